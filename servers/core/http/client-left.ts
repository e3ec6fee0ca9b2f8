/** The client went away in the middle: there is nobody left to answer. */
export class ClientLeft extends Error {
  override readonly name = "ClientLeft";
}
