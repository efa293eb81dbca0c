// Package backup is an operator that makes a CronJob for each Backup, with the standard library alone.
package backup

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
)

// Object is an object of the API.
type Object = map[string]any

// Connection is what `k8ts serve --output json` prints, and what POST /k8ts/fork answers.
type Connection struct {
	Name                     string `json:"name"`
	Server                   string `json:"server"`
	Token                    string `json:"token"`
	CertificateAuthorityData []byte `json:"certificateAuthorityData"`
}

// Refused is an answer of the API server that is no success.
type Refused struct {
	Code    int
	Message string
}

func (r *Refused) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Message) }

// Cluster is one that requests can be sent to.
type Cluster struct {
	Connection
	client *http.Client
}

// Connect makes no request yet.
func Connect(connection Connection) (*Cluster, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(connection.CertificateAuthorityData) {
		return nil, fmt.Errorf("the connection has no certificate of an authority")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	return &Cluster{connection, &http.Client{Transport: transport}}, nil
}

// Request sends a body and decodes the answer; both may be nil.
func (c *Cluster) Request(method, path string, body, answer any) error {
	encoded := []byte{}
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, c.Server+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("authorization", "Bearer "+c.Token)
	request.Header.Set("content-type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		var status struct{ Message string }
		if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
			return err
		}
		return &Refused{response.StatusCode, status.Message}
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
