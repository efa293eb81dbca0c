/** The whole public surface of csi. */
export { type NodeCsi, type NodeCsiOptions, nodeCsi } from "./node-csi.ts";
