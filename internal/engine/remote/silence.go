package remote

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Patience is how long another machine may be silent before an operation ends with an error.
const Patience = 30 * time.Second

// noticed is how long it may be silent before somebody is told.
const noticed = time.Second

var told atomic.Pointer[func(host string)]

// WhenSilent says who is told of a host that has sent nothing for a second; nil: nobody.
func WhenSilent(tell func(host string)) { told.Store(&tell) }

// Silence watches a host from which something is to come.
type Silence struct {
	patience time.Duration
	notice   *time.Timer
	end      *time.Timer
}

// SilentError says that a host has been silent.
type SilentError struct {
	Host string
	For  time.Duration
}

func (e *SilentError) Error() string { return fmt.Sprintf("%s has sent nothing for %v", e.Host, e.For) }

// Watch begins to watch a host, and calls stop if it has been silent for as long as it may.
func Watch(host string, patience time.Duration, stop func(error)) *Silence {
	return &Silence{
		patience: patience,
		notice: time.AfterFunc(noticed, func() {
			if tell := told.Load(); tell != nil && *tell != nil {
				(*tell)(host)
			}
		}),
		end: time.AfterFunc(patience, func() { stop(&SilentError{host, patience}) }),
	}
}

// Go goes on after a pause, or after something has come.
func (s *Silence) Go() {
	s.notice.Reset(noticed)
	s.end.Reset(s.patience)
}

// Pause watches no longer, until Go.
func (s *Silence) Pause() {
	s.notice.Stop()
	s.end.Stop()
}
