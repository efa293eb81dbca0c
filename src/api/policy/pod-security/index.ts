/** The public surface of the Pod Security Standards. */
export type { PodLike, Violation } from "./check.ts";
export { evaluatePodSecurity, violationDetails, violationReasons } from "./evaluate.ts";
export {
  compareLevels,
  LATEST as LATEST_POD_SECURITY,
  type LevelVersion,
  levelVersionText,
  levelWords,
  type PodSecurityLevel,
  type PodSecurityMode,
  type PodSecurityPolicy,
  type PodSecurityVersion,
  parseLevel as parsePodSecurityLevel,
  parseVersion as parsePodSecurityVersion,
  podSecurityPolicy,
  privilegedPolicy,
  sameLevelVersion,
  versionWords,
} from "./level.ts";
