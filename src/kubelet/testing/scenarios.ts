/** Builders for scenarios of a Pod's life. */
import { afterEach } from "vitest";
import type { core } from "#api";
import type { Script } from "../runtime/simulated/index.ts";
import { type TestKubelet, type TestKubeletOptions, testKubelet } from "./test-kubelet.ts";

/** Creates kubelets that end with their test. */
export function kubelets(): (options?: TestKubeletOptions) => Promise<TestKubelet> {
  let running: TestKubelet | undefined;
  afterEach(async () => {
    await running?.close();
    running = undefined;
  });
  return async (options = {}) => {
    running = await testKubelet(options);
    return running;
  };
}

export function podWith(spec: Partial<core.PodSpec> = {}, name = "web"): core.Pod {
  return {
    metadata: { name, namespace: "default" },
    spec: { nodeName: "node-1", containers: [{ name: "app", image: "app:1" }], ...spec },
  };
}

/** `app` exits after one second, with these exit codes in turn. */
export function exits(...codes: number[]): Script {
  return {
    container: ({ name, attempt }) => {
      const code = codes[attempt];
      return name === "app" && code !== undefined ? { exit: { afterMs: 1000, code } } : {};
    },
  };
}

export const seconds = (count: number): number => count * 1000;

/** `pod/container#attempt` of every start so far. */
export function started({ runtime }: TestKubelet): readonly string[] {
  const verb = "startContainer ";
  return runtime.calls.filter((call) => call.startsWith(verb)).map((call) => call.slice(verb.length));
}
