import type { GrpcViews } from "../../../../contract/services/grpc.ts";
import { lastViewsOf, viewsOf } from "../../control/use-store.ts";

export const useGrpcView = viewsOf<GrpcViews>("grpc");
export const useLastGrpcView = lastViewsOf<GrpcViews>("grpc");
