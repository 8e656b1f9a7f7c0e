// Answers with what it was given and what it sees of its surroundings.
export async function handler(event, context) {
  return {
    event,
    context: { ...context, remainingMs: context.getRemainingTimeInMillis() },
    pid: process.pid,
    cwd: process.cwd(),
  };
}

export async function environment() {
  return process.env;
}

export async function nothing() {}

export async function fetchUrl(event) {
  const reply = await fetch(event.url, { method: 'PUT', body: event.body });
  return { status: reply.status };
}
