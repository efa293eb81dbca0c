module example.com/backup

go 1.19
