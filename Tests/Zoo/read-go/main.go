// Reads bodies with Go's mime/multipart, part by part.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

type body struct {
	Case        string `json:"case"`
	Body        string `json:"body"`
	ContentType string `json:"content_type"`
}

type part struct {
	Name     *string     `json:"name"`
	Filename *string     `json:"filename"`
	Type     *string     `json:"type"`
	Bytes    string      `json:"bytes"`
	Headers  [][2]string `json:"headers"`
}

type told struct {
	Case  string  `json:"case"`
	Parts []part  `json:"parts"`
	Error *string `json:"error,omitempty"`
}

func coded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func optional(text string, isThere bool) *string {
	if !isThere {
		return nil
	}
	text = coded(text)
	return &text
}

func parts(data []byte, contentType string) ([]part, error) {
	parts := []part{}
	_, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, err
	}
	reader := multipart.NewReader(bytes.NewReader(data), parameters["boundary"])
	for {
		next, err := reader.NextPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(next)
		if err != nil {
			return nil, err
		}
		// FileName() returns "" both for no file name and for an empty one.
		_, disposition, _ := mime.ParseMediaType(next.Header.Get("Content-Disposition"))
		_, hasFilename := disposition["filename"]
		types, hasType := next.Header["Content-Type"]
		headers := [][2]string{}
		for name, values := range next.Header {
			for _, value := range values {
				headers = append(headers, [2]string{coded(name), coded(value)})
			}
		}
		parts = append(parts, part{
			Name: optional(next.FormName(), true), Filename: optional(next.FileName(), hasFilename),
			Type: optional(strings.Join(types, ", "), hasType), Bytes: coded(string(content)),
			Headers: headers})
	}
}

func main() {
	output := json.NewEncoder(os.Stdout)
	version := strings.TrimPrefix(runtime.Version(), "go")
	output.Encode(map[string]string{"reader": "Go " + version, "order": "wire"})
	var bodies []body
	list, err := os.ReadFile(filepath.Join(os.Args[1], "bodies.json"))
	if err == nil {
		err = json.Unmarshal(list, &bodies)
	}
	if err != nil {
		panic(err)
	}
	for _, body := range bodies {
		data, err := os.ReadFile(filepath.Join(os.Args[1], body.Body))
		if err != nil {
			panic(err)
		}
		said := told{Case: body.Case}
		if said.Parts, err = parts(data, body.ContentType); err != nil {
			text := err.Error()
			said.Error = &text
		}
		output.Encode(said)
	}
}
