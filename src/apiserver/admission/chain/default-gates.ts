/** The feature gates that plugins ask for, with their defaults in v1.36. Used where the server is told of no others. */
const ON_BY_DEFAULT: Readonly<Record<string, boolean>> = {
  ClusterTrustBundle: false,
  GenericWorkload: false,
  InPlacePodVerticalScaling: true,
  NodeDeclaredFeatures: true,
  PodTopologyLabelsAdmission: true,
  WorkloadWithJob: false,
};

export function gateByDefault(gate: string): boolean {
  return ON_BY_DEFAULT[gate] ?? false;
}
