/** The same call as curl, TypeScript and Python. */
export function callSamples(body: Record<string, unknown>): { name: string; code: string }[] {
  const json = JSON.stringify(body, null, 2)
  return [
    {
      name: 'curl',
      code: `curl -s $API/v1/underwrite \\
  -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -d '${json.replaceAll("'", "'\\''")}'`,
    },
    {
      name: 'TypeScript',
      code: `const response = await fetch(\`\${API}/v1/underwrite\`, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${KEY}\`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  },
  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),
})
const decision = await response.json()`,
    },
    {
      name: 'Python',
      code: `import uuid, requests

decision = requests.post(
    f"{API}/v1/underwrite",
    headers={
        "Authorization": f"Bearer {KEY}",
        "Idempotency-Key": str(uuid.uuid4()),
    },
    json=${json.replaceAll('\n', '\n    ')},
).json()`,
    },
  ]
}
