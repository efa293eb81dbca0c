/** As much of the kubelet as its command needs: a bundle takes no more than is named here. */
export { KUBELET_DEFAULTS, kubeletConfiguration, runHostKubelet } from "#kubelet";
