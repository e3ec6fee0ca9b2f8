import { StacklessError } from "./stackless-error.ts";

/** The client disconnected before its request was done: there is nobody to answer. */
export class ClientLeft extends StacklessError {
  override readonly name = "ClientLeft";
}
