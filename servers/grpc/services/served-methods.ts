import type { DescService } from "@bufbuild/protobuf";
import type { GrpcServiceView } from "../../../contract/services/grpc.ts";
import type { CallHandler } from "../engine/grpc-call.ts";
import { methodOf, patternOf } from "../engine/grpc-method.ts";
import { beginWith, type GrpcMethods, type MethodReplies, type ServedMethod, type ServiceHandlers } from "../engine/handlers.ts";
import type { DescriptorPool } from "../protos/descriptor-pool.ts";
import { sampleReply } from "../replies/sample-replies.ts";

/** Everything that is served: the types, and each method of a service. */
export interface ServedMethods extends GrpcMethods {
  readonly pool: DescriptorPool;
  /** Of the files in the pool. */
  readonly revision: string;
  /** For pages. */
  readonly view: readonly GrpcServiceView[];
}

export interface MethodsToServe {
  readonly pool: DescriptorPool;
  readonly revision: string;
  readonly handlers: ServiceHandlers;
  readonly replies: readonly MethodReplies[];
}

/** Reflection and health: no rule answers for them. */
const isProtocol = (service: string): boolean => service.startsWith("grpc.");

const rankOf = ({ typeName }: DescService, handlers: ServiceHandlers): number =>
  isProtocol(typeName) ? 2 : Object.hasOwn(handlers, typeName) ? 1 : 0;

/**
 * The services of `pool`. A call is answered by the first of `replies` that takes it, otherwise by the method's handler, or by a sample made
 * from its types if it has none.
 */
export function createServedMethods({ pool, revision, handlers, replies }: MethodsToServe): ServedMethods {
  const methods = new Map<string, ServedMethod>();
  for (const service of pool.services) {
    for (const descriptor of service.methods) {
      const method = methodOf({ descriptor, pool, revision });
      const own: CallHandler = handlers[service.typeName]?.[descriptor.name] ?? ((call) => sampleReply(call, method));
      const asked = isProtocol(service.typeName) ? [] : replies;
      const begin: CallHandler = asked.length === 0 ? own : (call) => beginWith(call, method, asked, () => own(call));
      methods.set(method.path, { ...method, begin });
    }
  }
  // The user's services first, and those of the protocol itself last.
  const listed = pool.services.toSorted((one, other) => rankOf(one, handlers) - rankOf(other, handlers));
  const view = listed.map((service) => ({
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
  return { pool, revision, view, find: (path) => methods.get(path) };
}
