// Sends forms with Go's multipart.Writer through net/http.
package main

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

type form struct {
	Case  string `json:"case"`
	Parts []struct {
		Name     string  `json:"name"`
		Filename *string `json:"filename"`
		Bytes    []byte  `json:"bytes"`
	} `json:"parts"`
}

func send(url string, form form) error {
	var body bytes.Buffer
	writer := multipart.NewWriter(&body)
	for _, part := range form.Parts {
		var place io.Writer
		var err error
		if part.Filename == nil {
			place, err = writer.CreateFormField(part.Name)
		} else {
			place, err = writer.CreateFormFile(part.Name, *part.Filename)
		}
		if err != nil {
			return err
		}
		if _, err = place.Write(part.Bytes); err != nil {
			return err
		}
	}
	if err := writer.Close(); err != nil {
		return err
	}
	response, err := http.Post(url, writer.FormDataContentType(), &body)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func main() {
	output := json.NewEncoder(os.Stdout)
	version := strings.TrimPrefix(runtime.Version(), "go")
	output.Encode(map[string]string{"sender": "net/http of Go " + version})
	var forms []form
	list, err := os.ReadFile(filepath.Join(os.Args[1], "forms.json"))
	if err == nil {
		err = json.Unmarshal(list, &forms)
	}
	if err != nil {
		panic(err)
	}
	for _, form := range forms {
		if err := send(os.Args[2]+"/"+form.Case, form); err != nil {
			output.Encode(map[string]string{"case": form.Case, "error": err.Error()})
		}
	}
}
