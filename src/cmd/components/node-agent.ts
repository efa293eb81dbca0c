/**
 * The commands that run beside Pods, and nothing else: `node-agent.ts kubelet …`, `node-agent.ts proxy …` and `node-agent.ts ingress …` are those of the whole
 * command line, in programs of their own that hold only what they use, so that these processes take less memory.
 */
switch (process.argv[2]) {
  case "proxy":
    await import("./node-proxy.ts");
    break;
  case "ingress":
    await import("./node-ingress.ts");
    break;
  default:
    await import("./node-kubelet.ts");
}
