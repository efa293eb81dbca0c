/**
 * A runtime that speaks CRI v1:
 *
 *     const runtime = criRuntime({ endpoint: "unix:///run/containerd/containerd.sock", clock, log });
 *     const sandbox = await runtime.runPodSandbox(sandboxConfig, "");
 *     const container = await runtime.createContainer(sandbox, containerConfig, sandboxConfig);
 *     await runtime.startContainer(container);
 *     for await (const event of runtime.events(signal)) …
 *     await runtime.close();
 */
export { type CriOptions, criRuntime } from "./cri-runtime.ts";
