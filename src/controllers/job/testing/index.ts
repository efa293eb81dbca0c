/** Test tools for Jobs. */
export { type Actions, type Cluster, container, job, jobsAtWork, template } from "./jobs-at-work.ts";
