package model

import (
	"encoding/json"
	"testing"
)

// TestThresholdsOfDamagedFiles are refused, which a checksum made anew does not do.
func TestThresholdsOfDamagedFiles(t *testing.T) {
	for text, good := range map[string]bool{
		`{"task":"classify","classes":["a","b"],"outputs":1,"threshold":{"rule":"max-f1","score":-0.5,"rows":9}}`:       true,
		`{"task":"classify","classes":["a","b"],"outputs":1,"threshold":{"rule":"max-f1","score":1e39}}`:                false,
		`{"task":"classify","classes":["a","b"],"outputs":1,"threshold":{"rule":"0.5","score":0,"probability":2}}`:      false,
		`{"task":"classify","classes":["a","b"],"outputs":1,"threshold":{"rule":"0.5","score":0,"rows":-1}}`:            false,
		`{"task":"classify","classes":["a","b","c"],"outputs":3,"threshold":{"rule":"score=0","score":0}}`:              false,
		`{"task":"regress","outputs":1,"threshold":{"rule":"score=0","score":0}}`:                                       false,
		`{"task":"outliers","classes":["-1","1"],"outputs":1,"threshold":{"rule":"score=0","score":0}}`:                 false,
		`{"task":"multilabel","labels":["a","b"],"outputs":2,"threshold":{"rule":"score=0","score":0,"probability":1}}`: false,
	} {
		var info Info
		err := json.Unmarshal([]byte(text), &info)
		if err == nil {
			err = info.checkThreshold()
		}
		if (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}
