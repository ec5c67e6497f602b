package dataset

import (
	"context"
	"reflect"
	"testing"

	"mercer/internal/engine/testenv"
)

// fuzzSource reads a source twice: it must not panic, its rows must be what rows are
// (readRows checks that), and a second pass must give the same.
func fuzzSource(t *testing.T, src Source, err error) {
	if err != nil {
		return
	}
	rows, err := readRows(t, src, 4096)
	again, errAgain := readRows(t, src, 4096)
	if !reflect.DeepEqual(rows, again) {
		t.Fatalf("passes differ: %v and %v", rows, again)
	}
	if (err == nil) != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() {
		t.Fatalf("passes end in %v and %v", err, errAgain)
	}
}

func FuzzLIBSVM(f *testing.F) {
	for _, s := range []string{
		"1 1:2 3:4\n-1 2:0.5 # c\n", "+1 qid:3 1:1e5\r\n", "cat 1:1\ndog 2:2", " 1:2\n 3:4\n", "1 0:1\n", "1 2:1 2:1\n", "1 5:1 2:1\n",
		"1 1099511627776:1\n", "1 2147483647:1\n", "1 1:nan\n", "1 1:1e999\n", "1,2 1:1\n",
		"1,2 1:1\n 2:1\n3 qid:1 1:1\n,x, 1:1\n", "\xef\xbb\xbf1 1:1", "#\n\n", ":", "1 :", "1 1:", "1 1:1#x", "1 1:1e-99",
	} {
		for options := range byte(16) {
			f.Add([]byte(s), options)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, options byte) {
		defer testenv.Bounded(t, len(text))()
		looksLikeLIBSVM(text)
		var opt Options
		if options&1 != 0 {
			opt.Base = "0"
		}
		if options&2 != 0 {
			opt.Dim = 3
		}
		if options&4 != 0 {
			opt.BatchRows = 1
		}
		if options&8 != 0 {
			opt.LabelSeparator = ","
		}
		src, err := newLIBSVM(&memInput{"f", text}, opt)
		fuzzSource(t, src, err)
	})
}

func FuzzTable(f *testing.F) {
	for _, s := range []string{
		"a,b,y\n1,2,3\n4,5,6\n", "1;x;2\n3;y;4\n", "1\t2\n3\t4\n", " 1  2 3\n 4 5 6\n", "1,\"a\"\"\n,\",2\n3,b,4\n",
		"1,5\" x\n2,3\n", "?,1\nNA,2\n3,4\n",
		"x,1\ny,2\nx,3\n", "1,2\n3\n", "1,1e39\n", "inf,1\n2,3\n", "\"", "\"a\"b,1\n", ",\n,\n",
		"0,1,2,c\n1,1,1,d\n2,2,2,d\n", "|x\n1,2\n3,4\n", "\r\n\r\n1,2\r", "a\na\n",
	} {
		for _, options := range []byte{0, 1, 2, 4, 8, 12, 16, 32, 64, 0b1010101, 0b0101110} {
			f.Add([]byte(s), options)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, options byte) {
		defer testenv.Bounded(t, len(text))()
		opt := Options{
			Missing: []string{"", "mean", "zero", "error"}[options&3],
			Label:   []string{"", "0", "none", "-1,0"}[options>>2&3],
			Header:  []string{"", "yes"}[options>>4&1],
		}
		if options&32 != 0 {
			opt.Weight = "1"
		}
		if options&64 != 0 {
			opt.BatchRows = 1
		}
		for _, format := range []string{"", "csv", "tsv", "blank"} {
			src, err := newTable(context.Background(), &memInput{"f", text}, opt, format)
			fuzzSource(t, src, err)
			if err != nil {
				continue
			}
			// What has been trained on can be read again by its schema.
			rows, err := readRows(t, src, 4096)
			same := opt
			same.Schema, same.Label, same.Weight = src.Schema(), "", ""
			later, errLater := newTable(context.Background(), &memInput{"f", text}, same, format)
			if errLater != nil {
				if err == nil {
					t.Fatalf("the model's own file: %v", errLater)
				}
				continue
			}
			got, errLater := readRows(t, later, 4096)
			if err != nil || errLater != nil {
				continue
			}
			for i := range rows {
				rows[i].weight, got[i].weight = 0, 0
			}
			if !reflect.DeepEqual(rows, got) {
				t.Fatalf("by the model's schema %v, want %v", got, rows)
			}
		}
	})
}

// Bags are the rows of their file, cut where the group changes, in batches of any size.
func FuzzBags(f *testing.F) {
	for _, s := range []string{
		"g,x,y\na,1,u\na,2,u\nb,3,v\n", "a,1,u\n\na,2,v\n", "a,1\nb,2\na,3\n", "1,2,0\n1,3,0\n1e0,3,0\n", ",1,2\n",
		"1 qid:1 1:1\n1 qid:1\n2 qid:x 3:1\n",
		"qid:1 1:1\nqid:1 2:1\n", "1 1:1\n", "\"a\nb\",1,2\n\"a\nb\",3,2\n", string(npyOf(count(12), 2, 3,
			2)), string(npyOf(count(12), 4, 3)), arffHeader + "1,red,2.5,yes\n",
	} {
		for options := range byte(8) {
			f.Add([]byte(s), []byte("a 1\n\"b\" x\n"), options)
		}
	}
	f.Fuzz(func(t *testing.T, text, labels []byte, options byte) {
		defer testenv.Bounded(t, len(text)+len(labels))()
		opt := Options{Group: []string{"0", "g", "qid", ""}[options&3], Label: []string{"", "none"}[options>>2&1]}
		pass := func(batch int) (list []string, bags *BagFile, err error) {
			opt.BatchRows = batch
			in, err := newPacked("f", bytesFile{text}, int64(len(text)))
			if err != nil {
				return nil, nil, err
			}
			if bags, err = openBags(context.Background(), in, opt); err != nil {
				return nil, nil, err
			}
			list, err = readBags(bags)
			return list, bags, err
		}
		list, bags, err := pass(4096)
		small, _, errSmall := pass(1)
		if err == nil && !reflect.DeepEqual(list, small) || (err == nil) != (errSmall == nil) {
			t.Fatalf("%q (%v), bag by bag %q (%v)", list, err, small, errSmall)
		}
		if err != nil {
			return
		}
		sum, err := SurveyBags(context.Background(), bags, SurveyOptions{})
		if err != nil {
			return // no dimensions
		}
		if rows, err := Survey(context.Background(), bags.rows, SurveyOptions{}); err != nil || rows.Rows != sum.Rows || sum.Bags != len(list) {
			t.Fatalf("%d members of %d bags; %v, %d bags", sum.Rows, sum.Bags, rows, len(list))
		}
		in, err := newPacked("l", bytesFile{labels}, int64(len(labels)))
		if err != nil {
			return
		}
		if sep := twoCells(labels); sep != 0 {
			l := &bagLabels{Bags: bags, file: "l"}
			if l.readNames(in, sep) == nil && len(l.at) != len(l.all.Y) {
				t.Fatalf("%d labels by %d names", len(l.all.Y), len(l.at))
			}
		}
	})
}

func FuzzARFF(f *testing.F) {
	for _, s := range []string{
		"1,red,2.5,yes\n3,'light blue',4,no\n", "{0 7, 1 green, 3 no}\n", "{}\n", "{0 ?, 1 'light blue'}\n", "1,red,2,yes,{5}\n", "{0 1}, {5}\n",
		"?,?,?,yes\n", "% c\n\n1,\"red\",2,no", "1,'re\\'d',2,no\n", "{1 're\\", "{", "'", "1,red,1e999,no\n",
	} {
		for options := range byte(4) {
			f.Add([]byte(arffHeader+s), options)
		}
	}
	f.Add([]byte("@relation x\n@attribute a {'\\\n@data\n"), byte(0))
	f.Fuzz(func(t *testing.T, text []byte, options byte) {
		defer testenv.Bounded(t, len(text))()
		looksLikeARFF(text)
		opt := Options{Missing: []string{"", "mean", "zero", ""}[options&3], Label: []string{"", "0"}[options>>2&1]}
		src, err := newTable(context.Background(), &memInput{"f", text}, opt, "arff")
		fuzzSource(t, src, err)
	})
}

func FuzzNPZ(f *testing.F) {
	whole := threeRows()
	f.Add(whole.archive(f), byte(0))
	f.Add(whole.archive(f), byte(1))
	for name := range whole {
		less := threeRows()
		delete(less, name)
		f.Add(less.archive(f), byte(0))
		short := threeRows()
		short[name] = short[name][:len(short[name])-3]
		f.Add(short.archive(f), byte(1))
	}
	f.Add([]byte(zipMagic), byte(0))
	f.Fuzz(func(t *testing.T, file []byte, options byte) {
		defer testenv.Bounded(t, len(file))()
		fuzzNPZ(t, file, int(options&1))
	})
}

// The arrays of a matrix by themselves: a fuzzer does not get past the checksums of an archive.
func FuzzCSR(f *testing.F) {
	p := threeRows()
	f.Add(p["indices"], p["indptr"], p["format"], p["shape"], p["data"])
	for _, other := range []parts{
		{"indices": npyFile("'>u2'", false, "(4,)", []byte{0, 1, 0, 3, 0, 0, 0, 3})}, {"data": npyFile("'|b1'", false,
			"(4,)", []byte{1, 0, 1, 1})},
		{"indptr": npyFile("'<i8'", false, "(4,)", integers[int64](0, 1<<40, 2, 4))}, {"shape": npyFile("'<i8'", false,
			"(2,)", integers[int64](3, 1<<31-1))},
		{"format": npyFile("'<U3'", false, "()",
			[]byte("c\x00\x00\x00s\x00\x00\x00r\x00\x00\x00"))}, {"data": npyFile("'<f2'", true, "(99999999999,)", []byte{1, 2, 3})},
	} {
		all := threeRows()
		for name, array := range other {
			all[name] = array
		}
		f.Add(all["indices"], all["indptr"], all["format"], all["shape"], all["data"])
	}
	f.Fuzz(func(t *testing.T, indices, indptr, format, shape, data []byte) {
		defer testenv.Bounded(t, len(indices)+len(indptr)+len(format)+len(shape)+len(data))()
		fuzzNPZ(t, parts{"indices": indices, "indptr": indptr, "format": format, "shape": shape, "data": data}.archive(t), 2)
	})
}

func fuzzNPZ(t *testing.T, file []byte, batch int) {
	in, err := newPacked("f", bytesFile{file}, int64(len(file)))
	if err != nil {
		return
	}
	src, err := newNPZ(context.Background(), in, Options{BatchRows: batch})
	fuzzSource(t, src, err)
}
