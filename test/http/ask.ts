import { expect } from "vitest";

export const jsonOf = async (response: Response | Promise<Response>) => (await response).json();

export const errorWith = (status: number) => [status, { status: "error", message: expect.any(String) }];

export const answerOf = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init);
  return [response.status, await response.json()];
};
