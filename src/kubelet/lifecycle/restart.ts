/** Which containers are restarted: by the container's rules, then its policy, then the Pod's policy. */
import type { core } from "#api";

type Restartable = Pick<core.Container, "restartPolicy" | "restartPolicyRules">;

/** An init container that runs beside the others instead of before them. */
export function isSidecar({ restartPolicy }: Pick<core.Container, "restartPolicy">): boolean {
  return restartPolicy === "Always";
}

export function shouldRestart(container: Restartable, spec: core.PodSpec, exitCode: number): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container;
  if (restartPolicy !== undefined) {
    for (const { action, exitCodes } of restartPolicyRules) {
      if (exitCodes === undefined) continue;
      const isListed = (exitCodes.values ?? []).includes(exitCode);
      if (isListed === (exitCodes.operator === "In")) return action === "Restart" || action === "RestartAllContainers";
    }
  }
  const policy = restartPolicy ?? spec.restartPolicy ?? "Always";
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}
