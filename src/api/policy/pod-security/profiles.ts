/** AppArmor and seccomp: profiles that weaken the confinement of the runtime's default. */
import {
  annotationText,
  type CheckPod,
  containersText,
  containersWhere,
  distinct,
  type PodLike,
  plural,
  quoted,
  securityOf,
  settersText,
  type Violation,
} from "./check.ts";

const APPARMOR = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";

function isConfined(type: string | undefined): boolean {
  return type === "RuntimeDefault" || type === "Localhost";
}

/** The fields, and the annotations that preceded them. */
export const appArmorProfile: CheckPod = (pod) => {
  const ofPod = pod.spec.securityContext?.appArmorProfile;
  const podIsWrong = ofPod !== undefined && !isConfined(ofPod.type);
  const types: string[] = podIsWrong ? [ofPod.type] : [];
  const names = containersWhere(pod, (container) => {
    const profile = securityOf(container).appArmorProfile;
    if (profile === undefined || isConfined(profile.type)) return false;
    types.push(profile.type);
    return true;
  });
  const annotations = Object.entries(pod.metadata.annotations ?? {})
    .filter(
      ([key, value]) => key.startsWith(APPARMOR) && value !== "" && !/^(runtime\/default$|localhost\/)/.test(value),
    )
    .map(([key, value]) => annotationText(key, value))
    .sort();
  const values = [...distinct(types), ...annotations];
  if (values.length === 0) return undefined;
  const setters = [
    settersText(podIsWrong, names),
    annotations.length > 0 ? plural("annotation", annotations.length) : "",
  ];
  return {
    reason: plural("forbidden AppArmor profile", values.length),
    detail: `${setters.filter((each) => each !== "").join(" and ")} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

/** Before 1.19, when seccomp profiles were annotations. */
export const seccompAnnotations: CheckPod = (pod) => {
  const { annotations = {} } = pod.metadata;
  const keys = [SECCOMP_POD, ...containersWhere(pod, () => true).map((name) => SECCOMP_CONTAINER + name)];
  const isWrong = (value: string | undefined) =>
    value !== undefined && !/^(runtime\/default$|docker\/default$|localhost\/)/.test(value);
  const wrong = distinct(
    keys.filter((key) => isWrong(annotations[key])).map((key) => annotationText(key, annotations[key] ?? "")),
  );
  if (wrong.length === 0) return undefined;
  return { reason: "seccompProfile", detail: `forbidden ${plural("annotation", wrong.length)} ${wrong.join(", ")}` };
};

/** Baseline: a profile that is set must confine. */
export const seccompProfile: CheckPod = (pod) => wrongSeccomp(pod);

/** Restricted: a profile must be set, for the pod or for each of its containers. */
export const requiredSeccompProfile: CheckPod = (pod) => {
  const wrong = wrongSeccomp(pod);
  if (wrong !== undefined || isConfined(pod.spec.securityContext?.seccompProfile?.type)) return wrong;
  const names = containersWhere(pod, (container) => securityOf(container).seccompProfile === undefined);
  if (names.length === 0) return undefined;
  const detail = `pod or ${containersText(names)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`;
  return { reason: "seccompProfile", detail };
};

function wrongSeccomp(pod: PodLike): Violation | undefined {
  const ofPod = pod.spec.securityContext?.seccompProfile;
  const podIsWrong = ofPod !== undefined && !isConfined(ofPod.type);
  const types: string[] = podIsWrong ? [ofPod.type] : [];
  const names = containersWhere(pod, (container) => {
    const profile = securityOf(container).seccompProfile;
    if (profile === undefined || isConfined(profile.type)) return false;
    types.push(profile.type);
    return true;
  });
  if (types.length === 0) return undefined;
  return {
    reason: "seccompProfile",
    detail: `${settersText(podIsWrong, names)} must not set securityContext.seccompProfile.type to ${quoted(distinct(types))}`,
  };
}
