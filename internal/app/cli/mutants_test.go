package cli

import (
	"archive/zip"
	"bytes"
	"context"
	endian "encoding/binary"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"mercer/dataset"
	"mercer/internal/engine/safetensors"
	"mercer/internal/engine/testenv"
	"mercer/train"
)

var (
	mutants    = flag.Int("mutants", 5, "altered files of each kind")
	mutantSeed = flag.Uint64("mutant-seed", 1, "the seed of the alterations")
)

var numbersInText = regexp.MustCompile(`-?\d+(\.\d+)?`)

// extremes are what takes the place of numbers in text and in bytes.
var (
	extremes = []string{"-1", "0", "1", "2", "7", "65536", "2147483647", "99999999999", "9223372036854775807", "1e308", "1e-320", "nan", "inf", `""`, "null", "[]"}
	words    = []uint64{0, 1, math.MaxUint64, 1 << 31, 1<<31 - 1, 1 << 40, 1<<63 - 1, math.Float64bits(math.NaN()), math.Float64bits(1e300), 0x7fc000007f800000}
)

// mutant is a file that is altered in one to three places, most of them where what says how it is built stands: at the beginning or the end.
func mutant(r *rand.Rand, file []byte) []byte {
	b := slices.Clone(file)
	for range 1 + r.IntN(3) {
		if len(b) < 16 {
			return b
		}
		at := r.IntN(len(b) - 8)
		switch few := min(2048, len(b)-8); r.IntN(3) {
		case 0:
			at = r.IntN(few)
		case 1:
			at = len(b) - 8 - r.IntN(few)
		}
		to := min(len(b), at+1+r.IntN(64))
		switch r.IntN(8) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = []byte{0, 1, 127, 128, 255, byte(r.IntN(256))}[r.IntN(6)]
		case 2:
			endian.LittleEndian.PutUint64(b[at:], words[r.IntN(len(words))])
		case 3:
			endian.LittleEndian.PutUint32(b[at:], uint32(words[r.IntN(len(words))]))
		case 4:
			b = slices.Delete(b, at, to)
		case 5:
			b = slices.Insert(b, at, b[at:to]...)
		case 6:
			b = b[:at]
		case 7:
			if found := numbersInText.FindIndex(b[at:min(len(b), at+256)]); found != nil {
				b = slices.Replace(b, at+found[0], at+found[1], []byte(extremes[r.IntN(len(extremes))])...)
			}
		}
	}
	return b
}

// member is an archive in which one file is altered, with a right checksum.
func member(t *testing.T, r *rand.Rand, archive []byte) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, which := zip.NewWriter(&out), r.IntN(len(in.File))
	for i, f := range in.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(from)
		if err != nil {
			t.Fatal(err)
		}
		if i == which {
			text = mutant(r, text)
		}
		to, _ := w.Create(f.Name)
		to.Write(text)
	}
	w.Close()
	return out.Bytes()
}

// mutable are files of every kind that is read, each with command lines that read it as FILE.
func mutable(t *testing.T, dir string) map[string][]string {
	t.Helper()
	line := waysOf(t)
	args, _ := line("DATA MODEL INDEX", "clean.csv")
	data, m := args[0], args[1]
	all := map[string][]string{}
	file := func(name string, lines ...string) string {
		all[name] = lines
		return filepath.Join(dir, name)
	}
	classes, _ := line("DATA", "classes.csv")
	for _, name := range append(train.Learners(), "auto") {
		args := []string{"train", data, "-o", file("model-"+name, "predict FILE "+data, "inspect FILE", "export FILE -o OUT"), "--learner", name}
		switch name {
		case "group-lasso":
			args = append(args, "--kernel", "linear")
		case "ridge":
			args = append(args, "--features", "16", "--save-stats", file("statistics", "merge FILE FILE -o OUT", "train "+data+" --append FILE -o OUT"))
		}
		if r := mercer(t, args...); strings.Contains(r.stderr, "cannot do") {
			ok(t, append(append(args[:1:1], classes[0], "--ignore", "junk_*", "--id", "key"), args[2:]...)...)
		}
	}
	ok(t, "index", data, "-o", file("index", "search FILE "+data, "index FILE --delete 3 -o OUT"), "--features", "16", "--codes", "signs", "--cells", "3")
	for _, to := range dataset.ConvertFormats() {
		reads := "eval " + m + " FILE"
		if to == "npy" || to == "npz" {
			reads = "predict " + m + " FILE --label none"
		}
		ok(t, "convert", data, file("rows."+to, reads, "inspect FILE", "train FILE -o OUT --learner ridge --features 16"), "--label", "y")
	}
	db, err := sqlite3.Open("file:" + filepath.ToSlash(file("rows.sqlite", "eval "+m+" FILE", "inspect FILE")))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Exec("create table rows(a, b, y); create index i on rows(a); insert into rows values (1, 2, 3), (0.5, 0.25, 0.1), (null, 'x', 2)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	libsvm := filepath.Join(dir, "rows.libsvm")
	write(t, dir, "ROWS", strings.Repeat("1 1:2 3:4\n-1 1:1 2:0.5\n-1 2:3\n", 30))
	ok(t, "liblinear-train", "-q", filepath.Join(dir, "ROWS"), file("liblinear", "liblinear-predict "+filepath.Join(dir, "ROWS")+" FILE OUT", "inspect FILE"))
	write(t, dir, "libsvm", "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 3\nrho 0.25\nlabel 1 -1\nprobA -1.5\nprobB 0.1\nnr_sv 1 2\nSV\n"+
		"1 1:2 2:4 \n-0.5 1:1 2:0.5 \n-0.5 2:3 \n")
	all["libsvm"] = []string{"predict FILE " + libsvm, "inspect FILE"}
	ok(t, "inspect", data, "--schema", file("schema", "train "+data+" --schema FILE -o OUT --learner ridge --features 16"))
	write(t, dir, "map", `{"map":"chain","steps":[{"map":"countsketch","features":64},{"map":"rff","features":64}]}`)
	all["map"] = []string{"train " + data + " --map @FILE -o OUT --learner ridge"}
	write(t, dir, "rows.arff", "@relation r\n@attribute a numeric\n@attribute 'b c' {p,q}\n@attribute y numeric\n@data\n1,p,2\n{0 3, 2 1}\n?,q,4\n")
	all["rows.arff"] = []string{"inspect FILE"}
	return all
}

// A file of any kind that is altered, with a right checksum where it has one, is refused or read, within bounded time and memory; what is printed then
// is finite.
func TestMutantsOfEveryFormat(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds")
	}
	dir, out := t.TempDir(), t.TempDir()
	kinds := mutable(t, dir)
	random, refused, read, broke := rand.New(rand.NewPCG(*mutantSeed, 47)), 0, 0, 0
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		whole, err := os.ReadFile(filepath.Join(dir, kind))
		if err != nil {
			t.Fatal(err)
		}
		for i := range *mutants {
			file := mutant(random, whole)
			if filepath.Ext(kind) == ".npz" && i%2 == 0 {
				file = member(t, random, whole)
			}
			if strings.HasPrefix(kind, "model") || kind == "statistics" {
				safetensors.Seal(file)
			}
			path := write(t, out, "mutant", string(file))
			way := kinds[kind][i%len(kinds[kind])]
			args := strings.Fields(strings.NewReplacer("FILE", path, "OUT", filepath.Join(out, "out")).Replace(way))
			r, fault := bounded(args, len(file))
			if r.code == 0 && nonFinite.MatchString(r.stdout) && !strings.HasPrefix(way, "inspect") {
				fault = "prints " + r.stdout[:min(len(r.stdout), 300)]
			}
			if r.code > 2 || r.code != 0 && r.stderr == "" {
				fault = fmt.Sprintf("exit code %d, %q", r.code, r.stderr)
			}
			if fault != "" {
				broke++
				kept := filepath.Join(os.TempDir(), fmt.Sprintf("mercer-mutant-%s-%d-%d", kind, *mutantSeed, i))
				os.WriteFile(kept, file, 0o644)
				t.Errorf("mercer %s: mutant %d of %s: %s; it is in %s", strings.Join(args, " "), i, kind, fault, kept)
			}
			if r.code == 0 {
				read++
			} else {
				refused++
			}
		}
	}
	t.Logf("%d refused, %d read", refused, read)
	testenv.Tried(t, "altered files of all kinds, with right checksums", refused+read, broke)
}

var nonFinite = regexp.MustCompile(`(?i)\b(nan|inf)\b`)

// bounded runs a command line in this process; fault says what was wrong with it.
func bounded(args []string, size int) (r result, fault string) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from := time.Now()
	defer func() {
		if p := recover(); p != nil {
			fault = fmt.Sprintf("a panic: %v\n%s", p, debug.Stack())
		}
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<30+uint64(size)<<16 {
			fault = fmt.Sprintf("%d bytes of memory", after.TotalAlloc-before.TotalAlloc)
		}
		if took := time.Since(from); took > time.Minute {
			fault = fmt.Sprint(took)
		}
	}()
	var stdout, stderr bytes.Buffer
	r.code = Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr)
	r.stdout, r.stderr = stdout.String(), stderr.String()
	return r, ""
}
