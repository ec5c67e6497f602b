// Command mercer-beam trains by a plan of "mercer shard plan" on a runner of Apache Beam:
//
//	mercer shard plan clicks.csv -o plan --shards 64 --features 8192
//	mercer-beam --plan plan --model clicks.mercer --runner prism
//	mercer-beam --plan plan --model clicks.mercer --runner flink --endpoint localhost:8099 --environment_type LOOPBACK
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	onbeam "mercer/beam"
	"mercer/shard"
)

func main() {
	var o onbeam.Options
	flag.StringVar(&o.Plan, "plan", "", "folder of the plan: a path that all workers see, gs://… or s3://…")
	flag.StringVar(&o.Model, "model", "", "where to write the model: a path or a URL")
	flag.Int64Var(&o.Memory, "memory", 0, "bytes that a worker may hold; 0: no bound")
	flag.IntVar(&o.Group, "group", 8, "number of shards whose sums one worker adds up before the last merge")
	flag.Parse()
	beam.Init() // does not return in a worker
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintf(os.Stderr, "mercer-beam: %s\n", strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}

func run(ctx context.Context, o onbeam.Options) error {
	switch {
	case o.Plan == "":
		return fmt.Errorf("no plan; give --plan FOLDER, which mercer shard plan has made")
	case o.Model == "":
		return fmt.Errorf("no file to write the model to; give --model FILE")
	case o.Group < 1:
		return fmt.Errorf("--group %d: give 1 or more", o.Group)
	}
	store, err := onbeam.Open(ctx, o.Plan)
	if err != nil {
		return err
	}
	plan, err := shard.Load(ctx, store)
	if err != nil {
		return err
	}
	return onbeam.Train(ctx, plan, o, beamx.Run)
}
