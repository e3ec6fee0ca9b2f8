import type { HttpRequest, HttpResponse } from "../../core/http/http-route.ts";
import { send, varyBy } from "../../core/http/messages/http-answer.ts";
import { preferredType } from "../formats/media-type.ts";
import { type SamplePicture, samplePictures } from "../formats/sample-pictures.ts";
import { sendError } from "./reply.ts";
import { type Route, routeGroup } from "./route.ts";

export const imageRoutes = (): readonly Route[] =>
  routeGroup("Documents", [
    { path: "/image", methods: ["GET"], summary: "A picture in the format that Accept likes best", handle: chooseImage },
    ...(Object.keys(samplePictures) as (keyof typeof samplePictures)[]).map(
      (name): Omit<Route, "group"> => ({
        path: `/image/${name}`,
        methods: ["GET"],
        summary: `A picture as ${samplePictures[name].type}`,
        handle: (_request, response) => sendPicture(response, samplePictures[name]),
      }),
    ),
  ]);

function chooseImage(request: HttpRequest, response: HttpResponse): void {
  const pictures: readonly SamplePicture[] = Object.values(samplePictures);
  const types = pictures.map(({ type }) => type);
  const type = preferredType(request, types);
  varyBy(response, "Accept");
  const picture = pictures.find((one) => one.type === type);
  if (picture) sendPicture(response, picture);
  else sendError(response, 406, `Not acceptable; there are ${types.join(", ")}`);
}

function sendPicture(response: HttpResponse, { type, bytes }: SamplePicture): void {
  // An SVG opened by itself is a document: scripts are forbidden.
  send(
    response,
    200,
    type,
    bytes,
    type === "image/svg+xml" ? { "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox" } : undefined,
  );
}
