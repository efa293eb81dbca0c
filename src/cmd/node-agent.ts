/**
 * The commands that run on every node, and nothing else: `node-agent.ts kubelet …` and `node-agent.ts proxy …` are those of the whole command line, in programs
 * of their own that hold only what they use, so that a node's processes take less memory.
 */
await (process.argv[2] === "proxy" ? import("./node-proxy.ts") : import("./node-kubelet.ts"));
