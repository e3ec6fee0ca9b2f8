import type { GrpcServiceView } from "../../../contract/services/grpc.ts";
import { type GrpcMethod, type GrpcMethods, methodOf, patternOf } from "../engine/grpc-method.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";
import type { ServiceHandlers } from "./service-handlers.ts";

/** Everything that is served: the types, and a handler for each method. */
export interface ServedMethods extends GrpcMethods {
  readonly pool: DescriptorPool;
  /** For pages. */
  readonly view: readonly GrpcServiceView[];
}

/** Of the services of `pool`, those for whose methods there are handlers. */
export function createServedMethods(pool: DescriptorPool, handlers: ServiceHandlers): ServedMethods {
  const methods = new Map<string, GrpcMethod>();
  for (const service of pool.services) {
    for (const described of service.methods) {
      const begin = handlers[service.typeName]?.[described.name];
      if (begin) {
        const method = methodOf(described, begin);
        methods.set(method.path, method);
      }
    }
  }
  const view = pool.services.map((service) => ({
    name: service.typeName,
    file: service.file.proto.name,
    methods: service.methods.map((described) => ({
      path: `/${service.typeName}/${described.name}`,
      name: described.name,
      pattern: patternOf(described),
      requestType: described.input.typeName,
      responseType: described.output.typeName,
    })),
  }));
  return { pool, view, find: (path) => methods.get(path) };
}
