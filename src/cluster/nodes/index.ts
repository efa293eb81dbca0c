export { clusterDnsIn, publishNetwork } from "./cluster-network.ts";
export { examine, type Finding } from "./doctor.ts";
export {
  isSamePlace,
  type Protocol,
  type Publication,
  parsePublication,
  publicationText,
} from "./entrances/publication.ts";
export { addWanted, type OpenDoor, readDoors, readWanted, removeWanted } from "./entrances/records.ts";
export { type OpenedRealNodes, openRealNodes } from "./in-cluster.ts";
export { mountProblem, type NodeMount, parseNodeMount } from "./isolation/node-mounts.ts";
export { findProgram } from "./machine/command.ts";
export { obstacles, wantedHere } from "./machine/machine.ts";
export { canInstall, installCommand, installPackages, missingPackages, NODE_PACKAGES } from "./machine/packages.ts";
export { runLoadBalancers } from "./network/load-balancers.ts";
export { readRegistryCredentials } from "./node.ts";
export { powerOffAll } from "./power-off.ts";
export { type KubeletOptions, kubeletArgs } from "./programs/kubelet.ts";
export { RealNodes, type RealNodesOptions } from "./real-nodes.ts";
export { runNodes, untilReady } from "./run-nodes.ts";
export { importImage, openRuntime } from "./runtime/containerd.ts";
export { exportImage, forgetImage, keepArchive, partialArchive, recordArchive } from "./runtime/image-archives.ts";
export { type NodeNames, nodeNameProblem, nodeNames, type SiteNames, siteNames } from "./site/names.ts";
export {
  listNodes,
  type NodeRecord,
  type NodeRun,
  type NodeSpec,
  readNode,
  type Wanted,
  writeSpec,
} from "./site/record.ts";
export { knownSiteNetwork } from "./site/site-network.ts";
