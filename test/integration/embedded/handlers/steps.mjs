// One step of a workflow for one item. It notes every attempt in LEDGER; an item asks for what its first attempts do:
// { "id": …, "how": "later" | "refuse" | "exit" | "hang" | "slow", "times": n }
import { appendFileSync, readFileSync } from 'node:fs';

const ledger = process.env.LEDGER;

function failWith(name, message) {
  throw Object.assign(new Error(message), { name });
}

export async function handler({ item, run }) {
  appendFileSync(ledger, `${item.id}\n`);
  const lines = readFileSync(ledger, 'utf8').split('\n');
  const attempts = lines.filter((line) => line === item.id).length;
  if (item.how !== undefined && attempts <= (item.times ?? Infinity)) {
    switch (item.how) {
      case 'later':
        return failWith('NotYet', `${item.id} is not ready`);
      case 'refuse':
        return failWith('Refused', `${item.id} is not wanted`);
      case 'exit':
        process.exit(1);
        break;
      case 'hang':
        return new Promise(() => setInterval(() => {}, 1000));
      case 'slow':
        await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
  return { id: item.id, attempts, run };
}

export async function undo(event) {
  appendFileSync(ledger, 'undo\n');
  return { undone: event.run, error: event.failure.Error };
}
