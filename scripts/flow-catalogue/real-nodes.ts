/** Flows that need containers and a kernel: played on real nodes. */
import { of, type Scenario, step } from "./scenario.ts";

const IMAGE = "--image=localhost/busybox:1";

export const cniSetUp: Scenario = {
  id: "cni-set-up",
  title: "A Pod gets its network",
  about:
    "The kubelet asks the runtime for a sandbox. Within that one call the runtime makes a network namespace and has the CNI plugins give it an address from the node's range and a route; only then are containers made in it. The address comes back with the sandbox and is reported in the Pod's status. What the runtime asks its plugins is known to the runtime alone: the call to it is what is recorded.",
  nodes: "real",
  act: async ({ kubectl }) => {
    await kubectl(["run", "networked", IMAGE, "--restart=Never", "--command", "--", "sleep", "3600"]);
    await kubectl(["wait", "--for=condition=Ready", "pod/networked", "--timeout=60s"]);
  },
  flow: of("pods", "default", "networked"),
  steps: [
    step("scheduler ──► apiserver", /^POST pods\/networked\/binding$/, "the Pod is bound to a node"),
    step("apiserver --► kubelet/*", /^MODIFIED networked @/, "the node's kubelet sees it"),
    step("kubelet/* ──► runtime", /^RunPodSandbox/, "it asks for a sandbox: the runtime sets up its network (CNI ADD)"),
    { says: "the sandbox has its address", from: "runtime", arrow: "answer", to: /^kubelet\//, text: /^ok$/ },
    step("kubelet/* ──► runtime", /^CreateContainer networked/, "a container is made in it"),
    step("kubelet/* ──► runtime", /^StartContainer networked/, "and started"),
    step("kubelet/* ──► apiserver", /^PATCH pods\/networked\/status$/, "the kubelet reports, with the address"),
    step("apiserver ══► store", /^networked @/, "the report is persisted"),
  ],
};

export const networkPolicy: Scenario = {
  id: "network-policy",
  title: "A NetworkPolicy becomes rules in the kernel",
  about:
    "A NetworkPolicy is only an object until each node's agent sees it in its watch, compiles it with the Pods and namespaces that it is about, and tells its kernel the difference in one transaction.",
  nodes: "real",
  act: async ({ kubectl }) => {
    await kubectl([
      "run",
      "isolated",
      IMAGE,
      "--labels=app=isolated",
      "--restart=Never",
      "--command",
      "--",
      "sleep",
      "3600",
    ]);
    await kubectl(["wait", "--for=condition=Ready", "pod/isolated", "--timeout=60s"]);
    await kubectl(["create", "-f", "-"], {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "closed" },
      spec: { podSelector: { matchLabels: { app: "isolated" } }, policyTypes: ["Ingress"] },
    });
  },
  flow: of("networking.k8s.io/networkpolicies", "default", "closed"),
  steps: [
    step("kubectl ──► apiserver", /^POST networkpolicies$/, "the user asks for it"),
    step("apiserver ══► store", /^closed @/, "it is persisted"),
    step("apiserver --► policy/*", /^ADDED closed @/, "the node's agent sees it"),
    step("policy/* ──► kernel", /^rules for 1 NetworkPolicy$/, "and tells the kernel"),
    { says: "which takes them", from: "kernel", arrow: "answer", to: /^policy\//, text: /^ok$/ },
  ],
};
