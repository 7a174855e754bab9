// The only file of two images without a shell. As "worker" it prints a step each second until a signal
// ends it. As "pause" it holds the sandbox of a Pod: it reaps processes and ends when it is told to.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	if filepath.Base(os.Args[0]) == "pause" {
		pause()
	}
	for step := 1; ; step++ {
		fmt.Printf("step %d\n", step)
		time.Sleep(time.Second)
	}
}

func pause() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for got := range signals {
		if got != syscall.SIGCHLD {
			os.Exit(0)
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
