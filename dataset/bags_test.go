package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mercer/matrix"
)

// readBags is a pass over bags in words: "key label weight: members", members as
// "v v; v v".
func readBags(bags Bags) (list []string, err error) {
	r, err := bags.Open(context.Background())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		if b.First != len(list) {
			return list, fmt.Errorf("a batch begins with bag %d after %d bags", b.First, len(list))
		}
		for i := range b.Len() {
			text := ""
			if b.Keys != nil {
				text += b.Keys[i]
			}
			for _, y := range b.Y[i*b.Outputs : (i+1)*b.Outputs] {
				text += " " + labelText(y, nameOf(b.Names, i))
			}
			if b.Weights != nil {
				text += fmt.Sprintf(" ×%g", b.Weights[i])
			}
			text += ":"
			for row := b.Bags[i]; row < b.Bags[i+1]; row++ {
				if row > b.Bags[i] {
					text += ";"
				}
				if b.X.CSR != nil {
					idx, val := b.X.CSR.Row(row)
					for k, v := range val {
						text += fmt.Sprintf(" %d:%g", idx[k], v)
					}
					continue
				}
				for _, v := range b.X.Dense.Row(row) {
					text += fmt.Sprintf(" %g", v)
				}
			}
			list = append(list, text)
		}
	}
}

func nameOf(names []string, i int) string {
	if names == nil {
		return ""
	}
	return names[i]
}

// npyOf is an NPY file of float32.
func npyOf(values []float32, shape ...int) []byte {
	size := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }\n", size)
	out := append([]byte(npyMagic), 1, 0)
	out = binary.LittleEndian.AppendUint16(out, uint16(len(header)))
	out = append(out, header...)
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// count has n numbers 0, 1, 2, …
func count(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	return v
}

func TestBagsInEveryForm(t *testing.T) {
	readings := "device,x,y,state\na,1,2,ok\na,3,4,ok\nb,5,6,bad\nc c,7,8,ok\n"
	wantReadings := []string{`a "ok": 1 2; 3 4`, `b "bad": 5 6`, `c c "ok": 7 8`}
	for _, c := range []struct {
		name  string
		files map[string]string
		data  string // of the files; "": the folder itself
		opt   Options
		want  []string
	}{
		{"table by name", map[string]string{"f": readings}, "f", Options{Group: "device"}, wantReadings},
		{"table by index", map[string]string{"f": readings}, "f", Options{Group: "0", BatchRows: 1}, wantReadings},
		{"group behind the label", map[string]string{"f": "1,2,u,7\n3,4,u,7\n5,6,v,8\n"}, "f", Options{Group: "-1"},
			[]string{`7 "u": 1 2; 3 4`, `8 "v": 5 6`}},
		{"numbers as labels, weights", map[string]string{"f": "g,w,x,y\n1,2,3,0.5\n1,2,4,0.5\n2,0,5,1\n"}, "f", Options{Group: "g", Weight: "w"},
			[]string{"1 0.5 ×2: 3; 4", "2 1 ×0: 5"}},
		{"one-hot members", map[string]string{"f": "g,c,y\n1,red,0\n1,blue,0\n2,red,1\n"}, "f", Options{Group: "g"},
			[]string{"1 0: 0 1; 1 0", "2 1: 0 1"}},
		{"no labels", map[string]string{"f": "g,x\n1,3\n1,4\n2,5\n"}, "f", Options{Group: "g", Label: "none"}, []string{"1: 3; 4", "2: 5"}},
		{"LIBSVM", map[string]string{"f": "2 qid:1 1:1\n2 qid:1 3:1 # c\n-1 qid:7\n"}, "f", Options{Group: "qid", BatchRows: 2},
			[]string{"1 2: 0:1; 2:1", "7 -1:"}},
		{"LIBSVM without labels", map[string]string{"f": "qid:1 1:1\nqid:2 3:1\n"}, "f", Options{Group: "qid"}, []string{"1: 0:1", "2: 2:1"}},
		{"ARFF", map[string]string{"f": "@relation r\n@attribute g string\n@attribute x numeric\n@attribute y " +
			"{p,q}\n@data\na,1,p\na,2,p\nb,3,q\n"}, "f", Options{Group: "g"},
			[]string{`a "p": 1; 2`, `b "q": 3`}},
		{"NPY of rows", map[string]string{"f": string(npyOf([]float32{1, 10, 5, 1, 11, 5, 2, 12, 6}, 3, 3))}, "f", Options{Group: "0"},
			[]string{"1 5: 10; 11", "2 6: 12"}},
		{"NPY of rows, group last", map[string]string{"f": string(npyOf([]float32{10, 5, 1, 11, 5, 1, 12, 6, 2}, 3, 3))},
			"f", Options{Group: "2"},
			[]string{"1 5: 10; 11", "2 6: 12"}},
		{"images", map[string]string{"f": string(npyOf(count(12), 2, 3, 2))}, "f", Options{}, []string{": 0 1; 2 3; 4 5", ": 6 7; 8 9; 10 11"}},
		{"images in small batches", map[string]string{"f": string(npyOf(count(12), 2, 3, 2))}, "f", Options{BatchRows: 2},
			[]string{": 0 1; 2 3; 4 5", ": 6 7; 8 9; 10 11"}},
		{"images of height and width", map[string]string{"f": string(npyOf(count(12), 2, 2, 1, 3)), "l": "cat\n5\n"}, "f",
			Options{LabelsFile: "l"},
			[]string{` "cat": 0 1 2; 3 4 5`, " 5: 6 7 8; 9 10 11"}},
		{"a folder a class", map[string]string{"cat/b.csv": "1,2\n3,4\n", "cat/a.npy": string(npyOf(count(4), 2, 2)),
			"7/x.tsv": "5\t6\n7\t8\n", ".hidden/x": "", "cat/.x": ""}, "", Options{},
			[]string{"7/x.tsv 7: 5 6; 7 8", `cat/a.npy "cat": 0 1; 2 3`, `cat/b.csv "cat": 1 2; 3 4`}},
		{"files of images", map[string]string{"a.npy": string(npyOf(count(8), 2, 2, 2)), "b.npy": string(npyOf(count(2), 1, 2))}, "", Options{},
			[]string{"a.npy: 0 1; 2 3; 4 5; 6 7", "b.npy: 0 1"}},
		{"sparse files", map[string]string{"a": "1:1 2:1\n", "b": "7:1\n8:2\n"}, "", Options{}, []string{"a: 0:1 1:1", "b: 6:1; 7:2"}},
		{"flat files, labels in order", map[string]string{"b": "1,2\n3,4\n", "a": "5,6\n", "labels": "yes\nno\n"}, "",
			Options{LabelsFile: "labels"},
			[]string{`a "yes": 5 6`, `b "no": 1 2; 3 4`}},
		{"labels by name", map[string]string{"x/b.csv": "1,2\n", "x/a.csv.gz": string(gzipped(t, []byte("5,6\n"))),
			"labels": "name,label\nx/b,no\n./x/a.csv.gz,3\n"}, "", Options{LabelsFile: "labels"},
			[]string{`x/a.csv.gz 3: 5 6`, `x/b.csv "no": 1 2`}},
		{"labels of groups by name", map[string]string{"f": "p,1\np,2\nq,3\n", "l": "q 1\n\n\"p\" 2\n"}, "f",
			Options{Group: "0", LabelsFile: "l"},
			[]string{"p 2: 1; 2", "q 1: 3"}},
		{"labels of groups in order", map[string]string{"f": "p,1\np,2\nq,3\n", "l": "1\n2\n"}, "f", Options{Group: "0", LabelsFile: "l"},
			[]string{"p 1: 1; 2", "q 2: 3"}},
	} {
		dir := folderOf(t, c.files)
		if c.opt.LabelsFile != "" {
			c.opt.LabelsFile = filepath.Join(dir, c.opt.LabelsFile)
		}
		bags, err := OpenBags(context.Background(), filepath.Join(dir, c.data), c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for range 2 {
			got, err := readBags(bags)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
			}
		}
		bags.Close()
	}
}

func TestWrongBags(t *testing.T) {
	nan := count(12)
	nan[2*3+4] = float32(math.NaN()) // image 1, location 2, channel 0
	for _, c := range []struct {
		name  string
		files map[string]string
		data  string
		opt   Options
		want  string // DIR stands for the folder
	}{
		{"no group", map[string]string{"f": "1,2\n3,4\n"}, "f", Options{},
			"DIR/f: nothing says which rows make a bag; name a column with group, or give an array of images × " +
				"locations × channels or a folder with a file for each bag"},
		{"no such column", map[string]string{"f": "g,x,y\n1,2,3\n"}, "f", Options{Group: "h", Header: "yes"},
			`DIR/f: there is no column "h" for group; the columns are g, x, y`},
		{"two columns", map[string]string{"f": "1,2,3\n"}, "f", Options{Group: "0,1"}, `DIR/f: group "0,1" names 2 columns; one is possible`},
		{"group is label", map[string]string{"f": "1,2,3\n"}, "f", Options{Group: "0", Label: "0"},
			`DIR/f: column 0 is the label and says which bag a row is of; name another group or label`},
		{"group is weight", map[string]string{"f": "1,2,3\n"}, "f", Options{Group: "0", Weight: "0"},
			`DIR/f: column 0 is the weight and says which bag a row is of; name another group or weight`},
		{"group comes again", map[string]string{"f": "a,1,0\nb,2,0\na,3,0\n"}, "f", Options{Group: "0"},
			`DIR/f:3: bag "a" reappears after other bags; the rows of a bag must be consecutive: sort the rows by column 0 (from 0)`},
		{"group comes again, with names", map[string]string{"f": "g,x,y\n\na,1,0\nb,2,0\na,3,0\n"}, "f", Options{Group: "g", BatchRows: 1},
			`DIR/f:5: bag "a" reappears after other bags; the rows of a bag must be consecutive: sort the ` +
				`rows below the header by column "g"`},
		{"two labels", map[string]string{"f": "a,1,x\n\na,2,y\n"}, "f", Options{Group: "0"},
			`DIR/f:3: the label is "y", but bag "a", whose rows begin at DIR/f:1, has the label "x"; the rows of a bag have one label`},
		{"two labels, numbers", map[string]string{"f": "1 qid:3 1:1\n2 qid:3 1:1\n"}, "f", Options{Group: "qid"},
			`DIR/f:2: the label is 2, but bag "3", whose rows begin at DIR/f:1, has the label 1; the rows of a bag have one label`},
		{"text and number", map[string]string{"f": "a,1,x\na,2,7\n"}, "f", Options{Group: "0"},
			`DIR/f:2: the label is 7, but bag "a", whose rows begin at DIR/f:1, has the label "x"; the rows of a bag have one label`},
		{"two labels in an array", map[string]string{"f": string(npyOf([]float32{1, 10, 5, 1, 11, 6}, 2, 3))}, "f", Options{Group: "0"},
			`DIR/f: row 1 (from 0): the label is 6, but bag "1", whose rows begin at DIR/f: row 0 (from 0), has the ` +
				`label 5; the rows of a bag have one label`},
		{"two weights", map[string]string{"f": "a,1,x,1\na,2,x,2\n"}, "f", Options{Group: "0", Weight: "3"},
			`DIR/f:2: the weight is 2, but bag "a", whose rows begin at DIR/f:1, has the weight 1; the rows of a bag have one weight`},
		{"empty group", map[string]string{"f": "g,x,y\na,1,x\n,2,x\n"}, "f", Options{Group: "g"},
			`DIR/f:3: column "g": the cell is empty, so nothing says which bag the row is of`},
		{"no qid", map[string]string{"f": "1 qid:1 1:1\n1 1:1\n"}, "f", Options{Group: "qid"},
			"DIR/f:2: the row has no qid:NUMBER behind its label to say which group it is of"},
		{"empty qid", map[string]string{"f": "1 qid:1 1:1\n1 qid: 1:1\n"}, "f", Options{Group: "qid"},
			"DIR/f:2: qid: has no number after the colon"},
		{"LIBSVM by column", map[string]string{"f": "1 qid:1 1:1\n"}, "f", Options{Group: "0"},
			"DIR/f: is LIBSVM text, in which rows are grouped by qid:NUMBER after the label; use group=qid"},
		{"ragged row", map[string]string{"f": "a,1,x\na,2\n"}, "f", Options{Group: "0", Header: "no"},
			"DIR/f:2: 2 columns where the first row has 3"},
		{"NaN in an image", map[string]string{"f": string(npyOf(nan, 2, 3, 2))}, "f", Options{},
			"DIR/f: image 1, location 2, channel 0 (from 0): NaN is not a number that float32 holds; replace or remove it"},
		{"too few labels", map[string]string{"f": string(npyOf(count(12), 3, 2, 2)), "l": "1\n2\n"}, "f",
			Options{LabelsFile: "l"}, "DIR/l: 2 labels for the 3 bags of DIR/f; each bag needs one"},
		{"too many labels", map[string]string{"f": string(npyOf(count(12), 3, 2, 2)), "l": "1\n2\n3\n4\n"}, "f",
			Options{LabelsFile: "l"}, "DIR/l: 4 labels for the 3 bags of DIR/f; each bag needs one"},
		{"short array", map[string]string{"f": string(npyOf(count(11), 3, 2, 2))}, "f", Options{},
			"DIR/f: is cut short: it ends in image 2 (from 0) of the 3 that its header promises"},
		{"short array, compressed", map[string]string{"f.gz": string(gzipped(t, npyOf(count(11), 3, 2, 2)))}, "f.gz",
			Options{}, "DIR/f.gz: is cut short: it ends in image 2 (from 0) of the 3 that its header promises"},
		{"columns of images", map[string]string{"f": string(npyOf(count(12), 3, 2, 2))}, "f", Options{Label: "0"},
			"DIR/f: is an array of 3 images of 2 locations × 2 channels, and has no columns for group, label or " +
				"weight; labels come from labels_file=FILE, one an image"},
		{"large images", map[string]string{"f.gz": string(gzipped(t, npyOf(nil, 1, 1<<20, 1<<10)))}, "f.gz", Options{},
			"DIR/f.gz: images of 1048576 locations × 1024 channels take 4.0 GiB each; a bag may take 1.0 GiB"},
		{"labels twice", map[string]string{"f": "a,1,x\n", "l": "1\n"}, "f",
			Options{Group: "0", Label: "2", LabelsFile: "l"}, "DIR/f: has labels in a column; leave out label or labels_file"},
		{"label of another name", map[string]string{"f": "a,1\nb,2\n", "l": "a,1\nc,2\n"}, "f",
			Options{Group: "0", LabelsFile: "l"}, `DIR/l: there is no label for bag "b" of DIR/f`},
		{"label twice", map[string]string{"f": "a,1\n", "l": "a,1\nb,2\na,1\n"}, "f",
			Options{Group: "0", LabelsFile: "l"}, `DIR/l:3: "a" has a label already`},
		{"label missing", map[string]string{"f": "a,1\n", "l": "a,1\nb,NA\n"}, "f", Options{Group: "0", LabelsFile: "l"},
			`DIR/l:2: the label of "b" is missing ("NA")`},
		{"empty folder", map[string]string{"d/.x": ""}, "d", Options{}, "DIR/d: there is no file in this folder; each file in it is a bag"},
		{"empty file", map[string]string{"a.csv": "1,2\n", "b.csv": ""}, "", Options{}, "DIR/b.csv: is empty"},
		{"a header only", map[string]string{"a.csv": "x,y\n1,2\n", "b.csv": "x,y\n"}, "", Options{},
			"DIR/b.csv: has no rows; each file in the folder is a bag of some"},
		{"a picture", map[string]string{"a.csv": "1,2\n", "b.png": "\x89PNG...."}, "",
			Options{}, "DIR/b.png: is a PNG image; give its pixels as NPY or IDX (read are LIBSVM text, CSV, TSV, " +
				"text separated by blanks, ARFF, JSON lines, Parquet, Arrow, NPY, npz and IDX, also as gz, bz2, zst or zip)"},
		{"ragged files", map[string]string{"a.csv": "1,2\n", "b.csv": "1,2,3\n"}, "", Options{},
			"DIR/b.csv: 3 columns, but the first file (a.csv) has 2 inputs; check the file and label"},
		{"ragged arrays", map[string]string{"a.npy": string(npyOf(count(4), 2, 2)), "b.npy": string(npyOf(count(6), 2, 3))}, "", Options{},
			"DIR/b.npy: rows have 3 inputs, but the first file (a.npy) has 2; check label and the file"},
		{"another name", map[string]string{"a.csv": "x,y\n1,2\n", "b.csv": "x,z\n1,2\n"}, "", Options{Header: "yes"},
			`DIR/b.csv: there is no column "y", which the first file (a.csv) has; the columns are x, z`},
		{"sparse and not", map[string]string{"a.csv": "1,2\n", "b.csv": "1:2 2:3\n"}, "", Options{},
			"DIR/b.csv: some rows are sparse (index:value) and some are not; write all in one format"},
		{"text", map[string]string{"a.csv": "1,x\n2,y\n"}, "", Options{},
			`DIR/a.csv: column "1" holds text, whose values a single file does not tell; with a file for each bag, ` +
				`columns hold numbers (or put all rows in one file, with group)`},
		{"text later", map[string]string{"a.csv": "1,2\n", "b.csv": "1,x\n"}, "", Options{},
			"DIR/b.csv: column 1 holds text where the first file (a.csv) has numbers; it has 2 inputs, the file 2 columns"},
		{"folders and files", map[string]string{"a/a.csv": "1,2\n", "b.csv": "1,2\n"}, "", Options{},
			"DIR: a/a.csv is in a folder, whose name would be its label, but b.csv is in none; put all into folders, " +
				"or none and use labels_file=FILE"},
		{"group of a folder", map[string]string{"a.csv": "1,2\n"}, "", Options{Group: "0"},
			"DIR: is a folder, of which each file is a bag; group is for rows in one file"},
		{"label of a folder", map[string]string{"a.csv": "1,2\n"}, "", Options{Label: "0"},
			"DIR: is a folder, of which each file is a bag without columns for label or weight; labels are the names " +
				"of the folders that the files are in, or come from labels_file=FILE"},
		{"no such file", map[string]string{"a.csv": "1,2\n"}, "b", Options{}, "DIR/b: file does not exist"},
	} {
		dir := folderOf(t, c.files)
		if c.opt.LabelsFile != "" {
			c.opt.LabelsFile = filepath.Join(dir, c.opt.LabelsFile)
		}
		bags, err := OpenBags(context.Background(), filepath.Join(dir, c.data), c.opt)
		if err == nil {
			_, err = readBags(bags)
			bags.Close()
		}
		if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
	}
}

// A bag that does not fit is refused before it fills the memory.
func TestLargeBagIsRefused(t *testing.T) {
	c := newCollect("f", 0)
	c.limit = 1000
	x := matrix.Rows{Dense: matrix.NewDense(100, 2)}
	if err := c.add(x, "f:1"); err != nil {
		t.Fatal(err)
	}
	c.end("a", matrix.Batch{})
	if err := c.add(x, "f:101"); err != nil {
		t.Fatalf("a bag of 800 bytes after another: %v", err)
	}
	want := "f:201: a bag has grown to 200 rows, 1.6 KiB, and is not complete; the members of a bag may take 1000 B (do all " +
		"these rows belong together?)"
	if err := c.add(x, "f:201"); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestBatchesOfBagsAreBounded(t *testing.T) {
	const n = 2*defaultBatch + 5
	ends := make([]int, n+1)
	for i := range ends {
		ends[i] = i
	}
	bags, err := FromBags(matrix.Rows{Dense: matrix.NewDense(n, 1)}, ends, nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := bags.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, want := range []int{defaultBatch, defaultBatch, 5} {
		if b, err := r.Next(); err != nil || b.Len() != want {
			t.Fatalf("%v, %v; want a batch of %d bags", b, err, want)
		}
	}
}

func TestFromBagsRefuses(t *testing.T) {
	x := matrix.Rows{Dense: matrix.NewDense(4, 2)}
	bad := matrix.NewDense(4, 2)
	bad.Row(3)[1] = float32(math.Inf(1))
	for _, c := range []struct {
		x    matrix.Rows
		bags []int
		y    []float64
		want string
	}{
		{x, []int{1, 4}, nil, "bags must begin with row 0 and end with the last of 4 rows"},
		{x, []int{0, 3}, nil, "bags must begin with row 0 and end with the last of 4 rows"},
		{x, []int{0, 2, 2, 4}, nil, "bag 1 (from 0) has no rows"},
		{x, []int{0, 3, 2, 4}, nil, "bag 1 (from 0) has no rows"},
		{x, []int{0, 2, 4}, []float64{1}, "1 targets for 2 rows of 1"},
		{x, []int{0, 2, 4}, []float64{1, math.NaN()}, "row 1: the target NaN is not a finite number"},
		{matrix.Rows{Dense: bad}, []int{0, 2, 4}, nil, "row 3, column 1 (from 0): +Inf is not a finite number"},
	} {
		if _, err := FromBags(c.x, c.bags, c.y, 1, nil); err == nil || err.Error() != c.want {
			t.Errorf("%v: %v; want %s", c.bags, err, c.want)
		}
	}
}

func TestSplitBagsKeepsBagsWhole(t *testing.T) {
	const n = 1000
	x := matrix.NewDense(2*n, 1)
	y, ends := make([]float64, n), []int{0}
	for i := range n {
		x.Data[2*i], x.Data[2*i+1], y[i] = float32(i), float32(i), float64(i)
		ends = append(ends, 2*i+2)
	}
	bags, err := FromBags(matrix.Rows{Dense: x}, ends, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	rest, held := SplitBags(bags, 0.3, 5)
	seen := map[string]bool{}
	sizes := []int{}
	for _, part := range []Bags{rest, held} {
		list, err := readBags(part)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(list))
		for _, text := range list {
			seen[text] = true
		}
	}
	for i := range n {
		if want := fmt.Sprintf(" %d: %d; %d", i, i, i); !seen[want] {
			t.Fatalf("bag %q is in neither part", want)
		}
	}
	// 300 expected, standard deviation 14.5.
	if sizes[0]+sizes[1] != n || sizes[1] < 242 || sizes[1] > 358 {
		t.Errorf("parts of %d bags", sizes)
	}
	// The rule is that of rows.
	_, rows := Split(mustRows(t, y), 0.3, 5)
	sum, err := Survey(context.Background(), rows, SurveyOptions{})
	if err != nil || sum.Rows != sizes[1] {
		t.Errorf("%d bags are held, but %d rows (%v)", sizes[1], sum.Rows, err)
	}
}

func mustRows(t *testing.T, y []float64) Source {
	t.Helper()
	src, err := FromRows(matrix.Rows{Dense: matrix.NewDense(len(y), 1)}, y, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// A model's file may be read again without labels, with other columns first.
func TestBagsFollowASchema(t *testing.T) {
	dir := folderOf(t, map[string]string{
		"train":    "y,g,x\n0,a,1\n0,a,2\n1,b,3\n",
		"names":    "x,g\n5,a\n6,b\n",
		"numbers":  "0,a,1\n0,a,2\n1,b,3\n",
		"nolabels": "a,1\na,2\nb,3\n",
		"nogroup":  "x,y\n1,2\n",
		"d/1.csv":  "5\n6\n",
	})
	open := func(name string, o Options) (*BagFile, error) {
		return OpenBags(context.Background(), filepath.Join(dir, name), o)
	}
	trained, err := open("train", Options{Group: "g", Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	defer trained.Close()
	for _, c := range []struct {
		name string
		opt  Options
		want []string
		err  string
	}{
		{"names", Options{}, []string{"a: 5", "b: 6"}, ""},
		{"numbers", Options{Header: "no"}, []string{"a 0: 1; 2", "b 1: 3"}, ""},
		{"nolabels", Options{Header: "no"}, []string{"a: 1; 2", "b: 3"}, ""},
		{"nogroup", Options{}, nil, `there is no column "g", by which the model's rows came in bags; name one with group; the columns are x, y`},
		{"d", Options{}, []string{"1.csv: 5; 6"}, ""},
	} {
		c.opt.Schema = trained.Schema()
		bags, err := open(c.name, c.opt)
		if c.err != "" {
			if err == nil || !strings.HasSuffix(err.Error(), c.err) {
				t.Errorf("%s: %v; want %s", c.name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := readBags(bags); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %q; want %q", c.name, err, got, c.want)
		}
		bags.Close()
	}
}

// A pass over bags holds some of them, however many there are.
func TestBagsTakeBoundedMemory(t *testing.T) {
	const images, locations, channels = 2000, 100, 128 // 102 MB, all zeros
	path := filepath.Join(t.TempDir(), "x.npy")
	head := npyOf(nil, images, locations, channels)
	if err := os.WriteFile(path, head, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(head))+4*images*locations*channels); err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most, n := heap(), int64(0), 0
	bags, err := OpenBags(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer bags.Close()
	r, err := bags.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n += b.Len()
		most = max(most, heap()-before)
	}
	// Two batches: that of the array, and that of whole bags, which may grow by one of the array.
	if n != images || most > 40<<20 {
		t.Errorf("%d bags, at most %d MB", n, most>>20)
	}
}
