package dataset

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// packedText is a text by gzip.
func packedText(t *testing.T, text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Formats that are not read are named by what is in the file, whatever its name says.
func TestForeignFormatsAreNamed(t *testing.T) {
	table := "a,y\n1,p\n2,q\n"
	zeros := strings.Repeat("\x00", 64)
	for content, want := range map[string]string{
		`[{"a":1}]`: "a JSON array",
		"{\n \"a\": [1, 2],\n \"b\": [1, 2]\n}\n": "one JSON object over several lines",
		"<rows>\n<row a=\"1\"/>\n</rows>":         "an XML document",
		"<!-- x -->\n<a/>":                        "an XML document",
		"<table border=1>\n<tr><td>1":             "a part of an HTML page",
		"\x80\x02}q\x00.":                         "a Python pickle",
		"]q\x00(K\x01e.":                          "a Python pickle",
		"(lp0\n(dp1\n":                            "a Python pickle",
		"X\n\x00\x00\x00\x03" + zeros:             "R data",
		"MATLAB 5.0 MAT-file" + zeros:             "a MATLAB file",
		"Rar!\x1a\x07\x01\x00":                    "a RAR archive",
		"PK\x05\x06" + zeros:                      "an empty zip archive",
		"\x04\x22\x4d\x18\x64\x40\xa7":            "an lz4 file",
		"\x1f\x9d\x90" + zeros:                    "a file of compress",
		packedText(t, packedText(t, table)):       "gzip within gzip",
		"\x7fELF\x02\x01":                         "a program",
		"GIF89a" + zeros:                          "a GIF image",
		"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 12\n": "Git LFS",
		"{\\rtf1\\ansi a,b}": "a document in RTF",
		"%!PS-Adobe-3.0\n":   "a PostScript document",
		"%%MatrixMarket matrix coordinate real general\n3 3 ": "a Matrix Market file",
		"INSERT INTO t VALUES (1,'x');\n":                     "a dump of a database in SQL",
		"---\n- a: 1\n":                                       "YAML",
		"| a | b |\n|---|---|\n| 1 | 2 |\n":                   "a table in Markdown",
		" a | b \n---+---\n 1 | x\n":                          "what psql prints",
		"a,y\r1,p\n2,q\n":                                     "carriage return alone",
		packedText(t, table) + "garbage":                      "bytes that are no gzip follow its end",
		packedText(t, table)[:30]:                             "cut short",
	} {
		if _, err := OpenBytes(t.Context(), "data.csv", []byte(content), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", content, err, want)
		}
	}
}

// A gzip file may have several members, and zeros behind any of them.
func TestPaddedGzip(t *testing.T) {
	const first, second = "a,y\n1,p\n2,q\n", "3,p\n4,q\n"
	for _, zeros := range []int{0, 1, 512, 1 << 17} {
		pad := strings.Repeat("\x00", zeros)
		src, err := OpenBytes(t.Context(), "data.gz", []byte(packedText(t, first)+pad+packedText(t, second)+pad), Options{Label: "y"})
		if err != nil {
			t.Fatalf("%d zeros: %v", zeros, err)
		}
		sum, err := Survey(t.Context(), src, SurveyOptions{})
		if err != nil || sum.Rows != 4 {
			t.Errorf("%d zeros: %v rows, %v", zeros, sum, err)
		}
		src.Close()
	}
}

// LIBSVM text and arrays keep float32, so one is told where that makes numbers all but equal.
func TestRoundedColumnsAreTold(t *testing.T) {
	text := ""
	for i := range 40 {
		text += []string{"-1", "+1"}[i%2] + " 1:17000064" + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "123 2:0.5\n"
	}
	var told []string
	src, err := OpenBytes(t.Context(), "data.svm", []byte(text), Options{Columns: ColumnOptions{Notice: func(n Notice) { told = append(told, n.Text) }}})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := Survey(t.Context(), src, SurveyOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(told) != 1 || !strings.Contains(told[0], "float32 rounds to multiples of") {
		t.Errorf("%q", told)
	}
}
