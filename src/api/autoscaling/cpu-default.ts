/** The share of CPU, in percent, that an autoscaler without any metric follows. */
export const defaultCpuUtilization = 80;
