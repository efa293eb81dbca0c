/** The public surface of quotas. */
export { calculateUsage } from "./calculate.ts";
export {
  type Charged,
  charge,
  type LimitedResource,
  type QuotaState,
  quotaState,
  scopesOf,
  usedTexts,
} from "./charge.ts";
export { hasStorageClass, storageClassOf } from "./claims.ts";
export { countName, type QuotaEvaluator, type QuotaWrite } from "./evaluator.ts";
export { evaluatorFor, quotaEvaluators } from "./evaluators.ts";
export { isChargedPod } from "./pods.ts";
