export { type CollectedSpan, type Collector, grpcCollector, httpCollector, treeOf } from "./collector.ts";
export { type TestTracer, testTracer } from "./test-tracer.ts";
