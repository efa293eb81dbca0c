/** Only what the kubelet command needs, so that its bundle contains nothing else. */
export { configurationProblems, KUBELET_DEFAULTS, kubeletConfiguration, runHostKubelet, SERVED_PATHS } from "#kubelet";
