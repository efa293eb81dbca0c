/** Kubelets for tests: `testKubelet` and `testNode` on virtual time, `memoryHost` in place of a machine. */
export { type MemoryHost, memoryHost } from "./memory-host.ts";
export { TEST_FACTS, type TestKubelet, type TestKubeletOptions, testKubelet } from "./test-kubelet.ts";
export { type NodeKind, type TestNode, testNode } from "./test-node.ts";
