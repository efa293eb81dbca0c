{{- /* A hook before everything else, in the order of weights: include "hooks.before" -5 */ -}}
{{- define "hooks.before" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation
{{- end -}}
