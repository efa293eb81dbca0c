package backup

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"testing"
)

const jobs = "/apis/batch/v1/namespaces/default/jobs"

var served *Cluster

// One cluster for all tests. It ends with this process, whatever becomes of it.
func TestMain(m *testing.M) {
	program := os.Getenv("K8TS")
	if program == "" {
		program = "k8ts"
	}
	// Time stands still between requests: what a test sees does not depend on how fast it runs.
	command := exec.Command(program, "serve", "--ephemeral", "--stopped-clock", "--output", "json",
		"--crds", "../crd.yaml", "--start-at", "2030-03-01T00:00:00Z")
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	check(err)
	check(command.Start())
	line, err := bufio.NewReader(output).ReadBytes('\n')
	check(err)
	var connection Connection
	check(json.Unmarshal(line, &connection))
	served, err = Connect(connection)
	check(err)
	code := m.Run()
	check(command.Process.Signal(os.Interrupt))
	check(command.Wait())
	os.Exit(code)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A cluster for one test, with everything that the served one has.
func fork(t *testing.T) *Cluster {
	t.Helper()
	var connection Connection
	must(t, served.Request("POST", "/k8ts/fork", Object{}, &connection))
	cluster, err := Connect(connection)
	must(t, err)
	t.Cleanup(func() { must(t, served.Request("DELETE", "/k8ts/fork?name="+connection.Name, nil, nil)) })
	backup := Object{
		"apiVersion": "example.com/v1", "kind": "Backup", "metadata": Object{"name": "nightly"},
		"spec": Object{"schedule": "0 3 * * *", "image": "backup:1"},
	}
	must(t, cluster.Request("POST", backups, backup, nil))
	must(t, Reconcile(cluster))
	return cluster
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func advance(t *testing.T, cluster *Cluster, duration string) {
	t.Helper()
	must(t, cluster.Request("POST", "/k8ts/clock", Object{"advance": duration}, nil))
}

func TestRunsEveryNight(t *testing.T) {
	cluster := fork(t)
	advance(t, cluster, "6h")
	var list struct {
		Items []struct {
			Status struct {
				StartTime string
				Succeeded int
			}
		}
	}
	must(t, cluster.Request("GET", jobs, nil, &list))
	if len(list.Items) != 1 || list.Items[0].Status.StartTime != "2030-03-01T03:00:00Z" || list.Items[0].Status.Succeeded != 1 {
		t.Errorf("jobs: %+v", list.Items)
	}
}

func TestGoesWithItsBackup(t *testing.T) {
	cluster := fork(t)
	must(t, cluster.Request("DELETE", backups+"/nightly", nil, nil))
	advance(t, cluster, "10s")
	if err := cluster.Request("GET", cronJobs+"/nightly", nil, nil); code(err) != http.StatusNotFound {
		t.Errorf("the CronJob is still there: %v", err)
	}
}

func TestFollowsChangesThoughOthersWriteToo(t *testing.T) {
	cluster := fork(t)
	var backup Object
	must(t, cluster.Request("GET", backups+"/nightly", nil, &backup))
	backup["spec"].(Object)["schedule"] = "0 4 * * *"
	must(t, cluster.Request("PUT", backups+"/nightly", backup, nil))
	refused := Object{"name": "refuse", "status": 409, "of": "clients", "method": "PUT", "times": 3}
	must(t, cluster.Request("POST", "/k8ts/faults", Object{"seed": 7, "faults": []Object{refused}}, nil))
	must(t, Reconcile(cluster))
	var cronJob struct{ Spec struct{ Schedule string } }
	must(t, cluster.Request("GET", cronJobs+"/nightly", nil, &cronJob))
	if cronJob.Spec.Schedule != "0 4 * * *" {
		t.Errorf("the schedule is %s", cronJob.Spec.Schedule)
	}
}
