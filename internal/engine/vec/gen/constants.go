package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants hands out vectors that hold one number in every lane: in registers as long as
// there are any to spare, then in memory.
type constants struct {
	s         isa
	registers int // left to give away
	known     map[uint64]operand.Op
}

func newConstants(s isa, registers int) *constants {
	return &constants{s: s, registers: registers, known: map[uint64]operand.Op{}}
}

// number is a constant of the value v.
func (c *constants) number(v float64) operand.Op { return c.bits(c.s.pattern(v)) }

// bits is a constant of the given bits.
func (c *constants) bits(v uint64) operand.Op {
	if op, ok := c.known[v]; ok {
		return op
	}
	c.known[v] = c.place(wide(c.s.float, v))
	return c.known[v]
}

func (c *constants) place(m operand.Mem) operand.Op {
	if c.registers == 0 {
		return m
	}
	c.registers--
	r := c.s.vector()
	c.s.load(m, r)
	return r
}

// register is a constant that must be in a register.
func (c *constants) register(v float64) reg.VecVirtual {
	r := c.s.vector()
	c.s.load(wide(c.s.float, c.s.pattern(v)), r)
	return r
}

// scaled is v times the number in every lane of scale.
func (c *constants) scaled(v float64, scale reg.VecVirtual) operand.Op {
	r := c.s.vector()
	c.s.mul(wide(c.s.float, c.s.pattern(v)), scale, r)
	if c.registers > 0 {
		c.registers--
		return r
	}
	m := AllocLocal(c.s.bytes)
	c.s.store(r, m)
	return m
}

// pattern is the bits of a number.
func (s isa) pattern(v float64) uint64 {
	if s.float == 4 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

// tables are the vectors that stand in memory, by name.
var tables = map[string]operand.Mem{}

// wide is 64 bytes in memory of one pattern of float bytes over and over.
func wide(float int, bits uint64) operand.Mem {
	name := fmt.Sprintf("%s_%d_%x", family, 8*float, bits)
	m, ok := tables[name]
	if !ok {
		m = GLOBL(name, attr.RODATA|attr.NOPTR)
		for at := 0; at < 64; at += float {
			if float == 4 {
				DATA(at, operand.U32(uint32(bits)))
			} else {
				DATA(at, operand.U64(bits))
			}
		}
		tables[name] = m
	}
	return m
}
