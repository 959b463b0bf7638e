// Posts files in a form with mime/multipart and net/http: `go-upload pipe|buffer URL FILE...`.
// "pipe" sends the form while it is written, in chunks. "buffer" writes all of it into memory first.
package main

import (
	"bytes"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 4 {
		log.Fatal("usage: go-upload pipe|buffer URL FILE...")
	}
	url, files := os.Args[2], os.Args[3:]
	var body io.Reader
	var contentType string
	switch os.Args[1] {
	case "pipe":
		reader, writer := io.Pipe()
		form := multipart.NewWriter(writer)
		go func() { writer.CloseWithError(write(form, files)) }()
		body, contentType = reader, form.FormDataContentType()
	case "buffer":
		var buffer bytes.Buffer
		form := multipart.NewWriter(&buffer)
		if err := write(form, files); err != nil {
			log.Fatal(err)
		}
		body, contentType = &buffer, form.FormDataContentType()
	default:
		log.Fatal("usage: go-upload pipe|buffer URL FILE...")
	}
	response, err := http.Post(url, contentType, body)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		log.Fatal(response.Status)
	}
}

func write(form *multipart.Writer, files []string) error {
	for _, path := range files {
		if err := add(form, path); err != nil {
			return err
		}
	}
	return form.Close()
}

func add(form *multipart.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	part, err := form.CreateFormFile("file", filepath.Base(path))
	if err != nil {
		return err
	}
	_, err = io.Copy(part, file)
	return err
}
