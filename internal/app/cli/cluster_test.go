package cli

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mercer/internal/engine/random"
)

// rings are points on two circles around one centre, which no line tells apart, with the circle as label.
func rings(n int) string {
	r := random.New(1, "rings")
	var text strings.Builder
	text.WriteString("a,b,ring\n")
	for range n {
		ring := r.Intn(2)
		angle, radius := 2*math.Pi*r.Uniform(), float64(1+4*ring)+0.1*r.Normal()
		fmt.Fprintf(&text, "%.4f,%.4f,%s\n", radius*math.Cos(angle), radius*math.Sin(angle), []string{"inner", "outer"}[ring])
	}
	return text.String()
}

func TestCluster(t *testing.T) {
	dir := t.TempDir()
	data, m := write(t, dir, "rings.csv", rings(800)), filepath.Join(dir, "m.mercer")
	page := filepath.Join(dir, "page.html")
	rand := func(flags ...string) float64 {
		return object(t, ok(t, append([]string{"cluster", data, "-o", m, "--clusters", "2", "--json"}, flags...)...))["adjusted_rand"].(float64)
	}
	if plain := rand("--kernel", "linear"); plain > 0.2 {
		t.Errorf("k-means of the rows themselves tells rings apart: %g", plain)
	}
	if kernel := rand("--scale", "none", "--gamma", "0.1", "--features", "256", "--components", "1", "--report", page); kernel < 0.99 {
		t.Errorf("the kernel's clusters agree by %g", kernel)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "Rows by cluster") || !strings.Contains(string(text), "Rows by label") {
		t.Errorf("the page has no pictures (%v)", err)
	}
	// The model says which cluster a row is in.
	cluster := map[string]string{}
	rows := strings.Split(strings.TrimSpace(rings(800)), "\n")[1:]
	for i, p := range strings.Fields(ok(t, "predict", m, data)) {
		ring := rows[i][strings.LastIndex(rows[i], ",")+1:]
		if cluster[ring] == "" {
			cluster[ring] = p
		} else if cluster[ring] != p {
			t.Fatalf("row %d: a row of the ring %s is in cluster %s, others in %s", i, ring, p, cluster[ring])
		}
	}
	if cluster["inner"] == cluster["outer"] || cluster["inner"] == "" {
		t.Error(cluster)
	}
	out := ok(t, "cluster", data, "-o", m, "--clusters", "3", "--label", "none", "--only", "a,b")
	if strings.Contains(out, "Rand") || !strings.Contains(out, "kmeans, 3 clusters of") || !strings.Contains(out, "silhouette 0.") {
		t.Error(out)
	}
	for want, flags := range map[string][]string{
		"give 2 to 65536":            {"--clusters", "1"},
		"900 clusters of 800 rows":   {"--clusters", "900"},
		"--output has an empty name": {"-o", ""},
		"tell classes apart":         {"--reduce", "lda", "--components", "1"},
	} {
		if r := mercer(t, append([]string{"cluster", data, "-o", m}, flags...)...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: %s, want %q", flags, r.stderr, want)
		}
	}
}
