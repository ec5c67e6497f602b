package dataset

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folderOf writes files into a new folder and returns it.
func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		save(t, dir, name, text)
	}
	return dir
}

// Files of several formats, with columns in other orders, are one table, with what their folders are called.
func TestFilesAreJoined(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"year=2023/town=Bad%20Ems/a.csv":              "x,y,label\n1,\"a\nb\",p\n\n2,c,q", // the last line has no end
		"year=2023/town=Kiel/b.tsv":                   "label\tx\ty\np\t3\ta,\"b\"\n",
		"year=2024/town=Kiel/c.jsonl":                 "{\"y\":\"z\",\"label\":\"q\",\"x\":null}\n",
		"year=2024/town=" + nullPartition + "/e.csv":  "\ufeffx,y,label\r\n5,e,q\r\n",
		"year=2024/town=Kiel/_SUCCESS":                "",
		".git/x":                                      "no",
		"year=2024/town=" + nullPartition + "/d.csv":  "x,y,label\n4,d,p\n",
		"year=2024/town=" + nullPartition + "/.d.crc": "\x00",
	})
	first := filepath.Join(dir, "year=2024/town=Kiel/d.csv")
	if err := os.WriteFile(first, []byte("x,y,label\n4,d,p\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{".parquet", ".arrow", ".arrows"} {
		converted(t, first, strings.TrimSuffix(first, ".csv")+ending)
	}
	all := "year,town,x,y,label\n2023,Bad Ems,1,\"a\nb\",p\n2023,Bad Ems,2,c,q\n2023,Kiel,3,\"a,\"\"b\"\"\",p\n2024,Kiel,,z,q\n" +
		strings.Repeat("2024,Kiel,4,d,p\n", 4) + "2024,,4,d,p\n2024,,5,e,q\n"
	if got := string(converted(t, dir, filepath.Join(t.TempDir(), "x.csv"))); got != all {
		// Files are in the order of their paths, and "__HIVE…" is before "Kiel".
		want := strings.Split(all, "\n")
		order := append(append(append([]string{}, want[:5]...), want[len(want)-3], want[len(want)-2]), want[5:len(want)-3]...)
		if got != strings.Join(order, "\n")+"\n" {
			t.Errorf("%q, want %q", got, strings.Join(order, "\n")+"\n")
		}
	}
	if got := string(converted(t, filepath.Join(dir, "year=2024", "town=K*", "*.csv"), filepath.Join(t.TempDir(), "x.csv"))); got !=
		"year,town,x,y,label\n2024,Kiel,4,d,p\n" {
		t.Errorf("a pattern: %q", got)
	}
	src, err := Open(context.Background(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for range 2 {
		rows := 0
		for b, err := range Each(context.Background(), src) {
			if err != nil {
				t.Fatal(err)
			}
			rows += b.X.Len()
		}
		if rows != 10 {
			t.Errorf("%d rows", rows)
		}
	}
}

// What is wrong in one file is told with its name and line.
func TestJoinedFilesThatDoNotFit(t *testing.T) {
	for want, files := range map[string]map[string]string{
		`b.csv: has no column "y", which DIR/a.csv has`:                    {"a.csv": "x,y\n1,2\n", "b.csv": "x,z\n1,2\n"},
		`b.csv: has a column "z", which DIR/a.csv has not`:                 {"a.csv": "x,y\n1,2\n", "b.csv": "x,y,z\n1,2,3\n"},
		`k=2/b.csv:4: column "x": "no" is not a number`:                    {"k=1/a.csv": "x,y\n1,2\n2,1\n", "k=2/b.csv": "x,y\n5,2\n6,1\nno,1\n"},
		`b.csv:3: 3 columns where the first row has 2`:                     {"a.csv": "x,y\n1,2\n2,1\n", "b.csv": "x,y\n5,2\n6,1,2\n"},
		`b.csv: its folders say nothing, those of DIR/a=1/a.csv a`:         {"a=1/a.csv": "x,y\n1,2\n", "b.csv": "x,y\n1,2\n"},
		`the column "x" is in the files and in the names of their folders`: {"x=1/a.csv": "x,y\n1,2\n"},
		`a=%zz/a.csv: "a=%zz" is not escaped`:                              {"a=%zz/a.csv": "x,y\n1,2\n"},
		`b.csv: is empty`:                                                  {"a.csv": "x,y\n1,2\n", "b.csv": ""},
		`b.libsvm: is no table of text`:                                    {"a.csv": "x,y\n1,2\n", "b.libsvm": "1 1:2\n"},
		`there is no file in this folder`:                                  {".hidden": "x"},
	} {
		dir := folderOf(t, files)
		src, err := Open(context.Background(), dir, Options{Missing: "error"})
		if err == nil {
			_, err = readRows(t, src, 4096)
			src.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), dir) || !strings.Contains(strings.ReplaceAll(err.Error(), dir, "DIR"), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for pattern, want := range map[string]string{"a[b.csv": "no file has this name (file does not exist), and as a pattern it lacks a ]",
		"a[].csv": "no file has this name (file does not exist), and as a pattern it cannot be read"} {
		if _, err := Open(context.Background(), pattern, Options{}); !errors.Is(err, fs.ErrNotExist) || err.Error() != pattern+": "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Open(context.Background(), filepath.Join(t.TempDir(), "*.csv"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pattern of no file: %v", err)
	}
}
