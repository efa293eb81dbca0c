export { BUSYBOX_IMAGE, PAUSE_IMAGE } from "./built-in.ts";
export { DAEMON_PREFIX, type Daemons, daemonsOf, openDaemonImage } from "./daemon-image.ts";
export { type BuiltInImage, machineImages } from "./machine-images.ts";
export { type ImageSpec, imageArchive } from "./oci-image.ts";
export { type ImageSource, openImage } from "./open-image.ts";
export { type TarEntry, tar } from "./tar.ts";
