/**
 * The commands that run on nodes: `node-agent.ts kubelet …`, and the same with `proxy`, `ingress` and `csi-driver`, do
 * the same as in the whole command line, but each is loaded without the rest, so that these processes take less memory.
 */
switch (process.argv[2]) {
  case "proxy":
    await import("./node-proxy.ts");
    break;
  case "ingress":
    await import("./node-ingress.ts");
    break;
  case "csi-driver":
    await import("./node-csi-driver.ts");
    break;
  default:
    await import("./node-kubelet.ts");
}
