import { z } from "zod";
import {
  faultSeed,
  faultTime,
  peerFault,
  peerFaultKinds,
  relayFault,
  relayFaultKinds,
  turnFault,
  turnFaultKinds,
  type WebrtcActiveFault,
} from "../../../contract/services/webrtc-faults.ts";
import { faultKindOf, faultStartOf } from "../../core/faults/fault-query.ts";
import type { HttpHandler, HttpMethod, HttpRequest, HttpRoute } from "../../core/http/http-route.ts";
import { jsonType, send } from "../../core/http/messages/http-answer.ts";
import { HttpRefusal } from "../../core/http/messages/http-refusal.ts";
import { ServiceError } from "../../core/service/service-error.ts";
import type { WebrtcFaults } from "./webrtc-faults.ts";

/** Faults on demand over HTTP: the query has what the page's dialog has. docs/webrtc-faults.md explains them. */
export function faultRoutes(faults: WebrtcFaults): readonly HttpRoute[] {
  const allocationOf = (request: HttpRequest): number => {
    const named = parameter(request, "relay");
    const allocation = /^\d{1,9}$/.test(named) ? Number(named) : faults.allocationAt(named);
    if (allocation === undefined) throw new HttpRefusal(404, "there is no such relay");
    return allocation;
  };
  function startOnPeer(...start: Parameters<WebrtcFaults["startOnPeer"]>): boolean {
    try {
      return faults.startOnPeer(...start);
    } catch (error) {
      if (error instanceof ServiceError) throw new HttpRefusal(409, `${error.message}. ${error.hint}`);
      throw error;
    }
  }
  return [
    route("/faults", "GET", () => {
      const { peers, relays, turn } = faults.view();
      return {
        peers: peers.map(({ peer, faults: active }) => ({ peer, faults: listed(active) })),
        relays: relays.map(({ allocation, faults: active }) => ({ allocation, faults: listed(active) })),
        turn: listed(turn),
      };
    }),
    route("/faults", "DELETE", () => {
      faults.stopAll();
      return done;
    }),
    route("/faults/peers/:peer", "POST", (request) => {
      const start = faultStartOf(queryOf(request), z.strictObject({ fault: peerFault, forMs: faultTime, seed: faultSeed }));
      if (!startOnPeer(parameter(request, "peer"), start)) throw new HttpRefusal(404, "there is no such peer");
      return done;
    }),
    route("/faults/peers/:peer", "DELETE", (request) =>
      stopped(faults.peers.stop(parameter(request, "peer"), faultKindOf(queryOf(request), peerFaultKinds))),
    ),
    route("/faults/relays/:relay", "POST", (request) => {
      const start = faultStartOf(queryOf(request), z.strictObject({ fault: relayFault, forMs: faultTime }));
      if (!faults.startOnRelay(allocationOf(request), start)) throw new HttpRefusal(404, "there is no such relay");
      return done;
    }),
    route("/faults/relays/:relay", "DELETE", (request) =>
      stopped(faults.relays.stop(allocationOf(request), faultKindOf(queryOf(request), relayFaultKinds))),
    ),
    route("/faults/turn", "POST", (request) => {
      const start = faultStartOf(queryOf(request), z.strictObject({ fault: turnFault, forMs: faultTime }));
      if (!faults.startOnTurn(start)) throw new HttpRefusal(404, "TURN is off");
      return done;
    }),
    route("/faults/turn", "DELETE", (request) => stopped(faults.stopTurn(faultKindOf(queryOf(request), turnFaultKinds)))),
  ];
}

const done = { status: "ok" };

const route = (path: string, method: HttpMethod, answer: (request: HttpRequest) => object): HttpRoute => {
  const handle: HttpHandler = (request, response) =>
    send(response, 200, jsonType, `${JSON.stringify(answer(request))}\n`, { "Cache-Control": "no-store" });
  return { path, methods: [method], handle };
};

const parameter = ({ params }: HttpRequest, name: string): string => String(params[name] ?? "");

const queryOf = ({ url = "" }: HttpRequest): URLSearchParams =>
  new URLSearchParams(url.includes("?") ? url.slice(url.indexOf("?") + 1) : "");

const listed = (active: readonly WebrtcActiveFault<object>[]) =>
  active.map(({ fault, until }) => ({ ...fault, ...(until !== undefined && { until: new Date(until).toISOString() }) }));

function stopped(hasStopped: boolean): object {
  if (!hasStopped) throw new HttpRefusal(404, "there is no such fault");
  return done;
}
