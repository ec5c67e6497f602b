package cli

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"mercer/feature"
	"mercer/kernel"
)

// Every help fits into 80 columns, with all flags too.
func TestHelpFitsA80ColumnTerminal(t *testing.T) {
	for _, name := range append([]string{""}, names()...) {
		for _, flag := range []string{"--help", "--help-all"} {
			c, _, err := newRoot().Find(strings.Fields(name))
			if err != nil || flag == "--help-all" && c.Flags().Lookup(helpAll) == nil {
				continue
			}
			for line := range strings.SplitSeq(ok(t, append(strings.Fields(name), flag)...), "\n") {
				if utf8.RuneCountInString(line) > 80 || strings.TrimRight(line, " ") != line {
					t.Errorf("mercer %s %s: %d characters: %q", name, flag, utf8.RuneCountInString(line), line)
				}
			}
		}
	}
}

// --help has the common flags in groups, --help-all all of them, each once.
func TestHelpGroupsFlags(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.DisableFlagParsing || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		all := ok(t, c.Name(), "--help-all")
		short := ok(t, c.Name(), "--help")
		_, left := split(c, false)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			mark := "--" + f.Name
			count := func(text string) (n int) {
				for line := range strings.SplitSeq(text, "\n") {
					name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "-o, "), " ")
					if name == mark && strings.HasPrefix(line, "  -") {
						n++
					}
				}
				return n
			}
			_, common, shared := groupOf(f.Name)
			want, wantFew := 1, 1
			if f.Hidden || f.Name == "help" || f.Name == helpAll {
				want, wantFew = 0, 0
			}
			if left >= fewestLeft && (shared && !common || contains(ownRest[c.Name()], f.Name)) {
				wantFew = 0
			}
			if names := few[c.Name()]; names != "" {
				wantFew = 0
				if contains(names, f.Name) {
					wantFew = 1
				}
			}
			if got := count(all); got != want {
				t.Errorf("%s --help-all has --%s %d times, want %d", c.Name(), f.Name, got, want)
			}
			if got := count(short); got != wantFew {
				t.Errorf("%s --help has --%s %d times, want %d", c.Name(), f.Name, got, wantFew)
			}
		})
	}
	all := ok(t, "train", "--help-all")
	at := 0
	for _, title := range []string{"\nUsage:\n", "\nExamples:\n", "\nData:\n", "\nBags:\n", "\nKernel and map:\n",
		"\nLearner:\n", "\nChoosing:\n", "\nOutput:\n", "\nMore:\n"} {
		i := strings.Index(all, title)
		if i < at {
			t.Errorf("%q is missing in the help of train, or out of order", title)
		}
		at = i
	}
	if strings.Contains(all, "\nFlags:\n") {
		t.Error("train has flags that are in no group")
	}
}

// train --help fits on two screens of 24 lines: what it is, three examples, and the flags that most people need.
func TestHelpOfTrainIsShort(t *testing.T) {
	help := ok(t, "train", "--help")
	if n := strings.Count(help, "\n"); n > 48 {
		t.Errorf("train --help has %d lines", n)
	}
	if n := strings.Count(help, "\n  mercer train"); n != 1+fewExamples {
		t.Errorf("train --help shows %d command lines", n)
	}
	if !strings.Contains(help, "mercer train --help-all has all ") {
		t.Errorf("train --help does not say where there is more: %s", help)
	}
}

// A flag that is in the table is one of some command, and in one place of the table.
func TestFlagGroupsNameFlags(t *testing.T) {
	known := map[string]bool{"threads": true, "csv": true} // csv comes with the pictures of approx
	for _, c := range newRoot().Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	}
	seen := map[string]bool{}
	for _, g := range flagGroups {
		for name := range strings.FieldsSeq(g.common + " " + g.rest) {
			if !known[name] || seen[name] {
				t.Errorf("--%s of %s is no flag, or stands there twice", name, g.title)
			}
			seen[name] = true
		}
	}
}

func TestFilled(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"one two\nthree four five", "one two three\nfour five"},
		{"one\n\ntwo", "one\n\ntwo"},
		{"  a    short", "  a    short"},
		{"  a    longer than that\n       and more", "  a    longer\n       than\n       that and\n       more"},
		{"  one/file\n  another/longer/file\n  third", "  one/file\n  another/longer/file\n  third"},
		{"  a    fits\n       here\nand then", "  a    fits\n       here\nand then"},
	} {
		if got := filled(c.text, 15); got != c.want {
			t.Errorf("%q is filled as %q, want %q", c.text, got, c.want)
		}
	}
	line := `  mercer train data.csv -o m --map '{"map":"sum","steps":[{"map":"rff"},{"map":"orf"}]}' --c 1`
	want := "  mercer train data.csv -o m \\\n      --map '{\"map\":\"sum\",\n" +
		"      \"steps\":[{\"map\":\"rff\"},\n      {\"map\":\"orf\"}]}' --c 1"
	if got := filledCommands(line, 32); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// What the help says of kernels and of the options of maps is what their kinds say, so that a new kernel or map
// changes it by its row alone. Flags with a default have the one that the kinds have.
func TestHelpIsThatOfKernelsAndMaps(t *testing.T) {
	for _, name := range []string{"train", "transform", "approx", "tune", "kernel", "bench"} {
		cmd, _, err := newRoot().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		has := func(flag, want string) {
			if f := cmd.Flags().Lookup(flag); f != nil && !strings.Contains(f.Usage, want) {
				t.Errorf("%s --%s: %q, want %q", name, flag, f.Usage, want)
			}
		}
		has("kernel", strings.Join(kernel.Names(), ", "))
		for _, p := range kernel.ParameterNames() {
			has(p, kernel.ParameterHelp(p))
		}
		for _, option := range feature.OptionNames() {
			if option == "landmarks" {
				has(option, landmarksHelp())
				continue
			}
			has(option, feature.OptionHelp(option))
		}
		for _, kind := range kernel.Kinds() {
			for _, p := range kind.Parameters() {
				f := cmd.Flags().Lookup(p.Name)
				if f == nil || name == "tune" {
					continue
				}
				if v, err := strconv.ParseFloat(f.DefValue, 64); err == nil && p.Name != "gamma" && v != 0 && v != p.Usual {
					t.Errorf("%s --%s: the default is %g, and %g of %s", name, p.Name, v, p.Usual, kind)
				}
			}
		}
	}
	help := strings.Join(strings.Fields(ok(t, "kernel", "--help-all")), " ")
	for _, kind := range kernel.Kinds() {
		median, scale := kind.GammaRule()
		for _, text := range []string{kind.Name() + " " + kind.Formula(), kind.About(), median, scale} {
			if !strings.Contains(help, strings.Join(strings.Fields(text), " ")) {
				t.Errorf("the help of the command kernel has no %q of %s", text, kind)
			}
		}
	}
	all := strings.Join(strings.Fields(ok(t, "train", "--help-all")), " ")
	for _, want := range []string{"fraction, step (default fraction) of unary", "rpcholesky, or a FILE of rows (default uniform) of nystrom"} {
		if !strings.Contains(all, want) {
			t.Errorf("the help of train does not say %q", want)
		}
	}
}
