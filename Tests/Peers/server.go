// A server that counts: it reads each request completely, and then notes its number, the SHA-256 of its body, and
// how much there was. GET /log at the address CONTROL answers with all notes.
//
//	server CONTROL LISTEN IDLE LIMIT [CERTIFICATE KEY]
//
// IDLE is how long it keeps idle connections, LIMIT the longest body (0 for any). At SIGUSR1 it restarts gracefully: a
// new server takes over the listening socket, and the old one finishes its requests.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

type note struct {
	Request string
	Digest  string
	Bytes   int64
}

var (
	mutex sync.Mutex
	notes = []note{}
)

func upload(limit int64) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if limit > 0 {
			if request.ContentLength > limit {
				http.Error(response, "too large", http.StatusRequestEntityTooLarge)
				return
			}
			request.Body = http.MaxBytesReader(response, request.Body, limit)
		}
		hash := sha256.New()
		count, err := io.Copy(hash, request.Body)
		if err != nil {
			http.Error(response, "incomplete", http.StatusBadRequest)
			return
		}
		mutex.Lock()
		notes = append(notes, note{request.Header.Get("X-Request"), fmt.Sprintf("%x", hash.Sum(nil)), count})
		mutex.Unlock()
		io.WriteString(response, "ok\n")
	}
}

func sendLog(response http.ResponseWriter, _ *http.Request) {
	mutex.Lock()
	defer mutex.Unlock()
	json.NewEncoder(response).Encode(notes)
}

func main() {
	control, err := net.Listen("tcp", os.Args[1])
	check(err)
	listener, err := net.Listen("tcp", os.Args[2])
	check(err)
	idle, err := time.ParseDuration(os.Args[3])
	check(err)
	limit, err := strconv.ParseInt(os.Args[4], 10, 64)
	check(err)
	go http.Serve(control, http.HandlerFunc(sendLog))

	restarts := make(chan os.Signal, 16)
	signal.Notify(restarts, syscall.SIGUSR1)
	for {
		// A copy of the socket, because a server closes its own when it ends.
		file, err := listener.(*net.TCPListener).File()
		check(err)
		own, err := net.FileListener(file)
		check(err)
		file.Close()
		server := &http.Server{Handler: upload(limit), IdleTimeout: idle, ErrorLog: log.New(io.Discard, "", 0)}
		go func() {
			if len(os.Args) > 6 {
				server.ServeTLS(own, os.Args[5], os.Args[6])
			} else {
				server.Serve(own)
			}
		}()
		<-restarts
		go server.Shutdown(context.Background())
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
