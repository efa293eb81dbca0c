package backup

import (
	"errors"
	"net/http"
)

const (
	backups  = "/apis/example.com/v1/namespaces/default/backups"
	cronJobs = "/apis/batch/v1/namespaces/default/cronjobs"
	attempts = 10
)

// Backup is the custom resource.
type Backup struct {
	Metadata struct{ Name, UID string }
	Spec     struct{ Schedule, Image string }
}

// Reconcile makes what is missing, and changes what differs.
func Reconcile(cluster *Cluster) error {
	var list struct{ Items []Backup }
	if err := cluster.Request("GET", backups, nil, &list); err != nil {
		return err
	}
	for _, backup := range list.Items {
		if err := retried(func() error { return reconcileOne(cluster, backup) }); err != nil {
			return err
		}
	}
	return nil
}

func reconcileOne(cluster *Cluster, backup Backup) error {
	path := cronJobs + "/" + backup.Metadata.Name
	var found Object
	err := cluster.Request("GET", path, nil, &found)
	if code(err) == http.StatusNotFound {
		return cluster.Request("POST", cronJobs, cronJobOf(backup), nil)
	}
	if err != nil {
		return err
	}
	spec := found["spec"].(Object)
	if spec["schedule"] == backup.Spec.Schedule {
		return nil
	}
	spec["schedule"] = backup.Spec.Schedule
	return cluster.Request("PUT", path, found, nil)
}

func cronJobOf(backup Backup) Object {
	owner := Object{
		"apiVersion": "example.com/v1", "kind": "Backup", "controller": true,
		"name": backup.Metadata.Name, "uid": backup.Metadata.UID,
	}
	pod := Object{"restartPolicy": "Never", "containers": []Object{{"name": "backup", "image": backup.Spec.Image}}}
	job := Object{"template": Object{"spec": pod}}
	return Object{
		"metadata": Object{"name": backup.Metadata.Name, "ownerReferences": []Object{owner}},
		"spec":     Object{"schedule": backup.Spec.Schedule, "jobTemplate": Object{"spec": job}},
	}
}

// Somebody else wrote meanwhile: look again.
func retried(work func() error) error {
	err := work()
	for attempt := 1; attempt < attempts && code(err) == http.StatusConflict; attempt++ {
		err = work()
	}
	return err
}

func code(err error) int {
	var refused *Refused
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}
