package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// radix writes the later passes: the stages between rows of numbers.
func (t *transform) radix(scaled bool) {
	if scaled {
		t.define("hadamardScaled", "func(x, s *T, radix, step, columns int)",
			"is the last of hadamardRadix, with s as x is; it multiplies each number that it writes by the one of s.")
	} else {
		t.define("hadamardRadix", "func(x *T, radix, step, columns, groups int)",
			fmt.Sprintf("transforms the columns of radix rows, 2 ≤ radix ≤ %d, step bytes apart: "+
				"columns vectors of each, and groups times over rows that follow each other.", t.most))
	}
	x, radix, step := Load(Param("x"), GP64()), Load(Param("radix"), GP64()), Load(Param("step"), GP64()).(reg.GPVirtual)
	var s reg.Register
	if scaled {
		s = Load(Param("s"), GP64())
	}
	var values []int
	for r := t.most; r >= 2; r /= 2 {
		values = append(values, r)
	}
	step3, step5, step7 := GP64(), GP64(), GP64()
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, step3)
	LEAQ(operand.Mem{Base: step, Index: step, Scale: 4}, step5)
	LEAQ(operand.Mem{Base: step3, Index: step, Scale: 4}, step7)
	rows := stride{1: step, 3: step3, 5: step5, 7: step7}
	t.choose(radix, values, func(r int) {
		group := func() {
			low, high, lowS, highS, columns := GP64(), GP64(), GP64(), GP64(), GP64()
			MOVQ(argument("columns"), columns)
			MOVQ(x, low)
			LEAQ(operand.Mem{Base: x, Index: step, Scale: 8}, high)
			if scaled {
				MOVQ(s, lowS)
				LEAQ(operand.Mem{Base: s, Index: step, Scale: 8}, highS)
			}
			t.loop(columns, func() {
				v := t.vectors(r)
				for i := range v {
					t.load(rows.stream(low, high, i), v[i])
				}
				t.between(v)
				for i := range v {
					if scaled {
						t.mul(rows.stream(lowS, highS, i), v[i], v[i])
					}
					t.store(v[i], rows.stream(low, high, i))
				}
				pointers := []reg.Register{low, high, lowS, highS}
				if !scaled {
					pointers = pointers[:2]
				}
				for _, p := range pointers {
					ADDQ(operand.U32(uint32(t.bytes)), p)
				}
			})
		}
		if scaled {
			group()
			return
		}
		groups, all := GP64(), GP64()
		MOVQ(argument("groups"), groups)
		MOVQ(step, all)
		SHLQ(operand.Imm(log2(r)), all)
		t.loop(groups, func() {
			group()
			ADDQ(all, x)
		})
	})
}
