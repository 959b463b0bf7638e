// Stores the files of forms in a directory, and responds with their sizes and digests: `go-receive DIRECTORY`.
// Prints its port, and ends with its input.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

type stored struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: go-receive DIRECTORY")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		log.Fatal(http.Serve(listener, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			parts, err := receive(request, os.Args[1])
			if err != nil {
				http.Error(response, err.Error(), http.StatusBadRequest)
				return
			}
			json.NewEncoder(response).Encode(parts)
		})))
	}()
	io.Copy(io.Discard, os.Stdin)
}

func receive(request *http.Request, directory string) ([]stored, error) {
	form, err := request.MultipartReader()
	if err != nil {
		return nil, err
	}
	var parts []stored
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		file, err := store(part, directory)
		if err != nil {
			return nil, err
		}
		parts = append(parts, file)
	}
}

// A file gets its name when it is complete, and replaces none.
func store(part *multipart.Part, directory string) (stored, error) {
	file, err := os.CreateTemp(directory, ".part-*")
	if err != nil {
		return stored{}, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	digest := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, digest), part)
	if err != nil {
		return stored{}, err
	}
	name := filepath.Base(part.FileName())
	if err := os.Link(file.Name(), filepath.Join(directory, name)); err != nil {
		return stored{}, err
	}
	return stored{name, size, hex.EncodeToString(digest.Sum(nil))}, nil
}
