/** Annotations of static Pods and their mirrors. */

export const CONFIG_HASH = "kubernetes.io/config.hash";
export const CONFIG_SOURCE = "kubernetes.io/config.source";
export const CONFIG_SEEN = "kubernetes.io/config.seen";
export const CONFIG_MIRROR = "kubernetes.io/config.mirror";
