"""Texts of everyday work that hold no secret, some of which look as if they did."""

from tests.secrets.material import BASE64, HEX, LOWER, some

_B64 = some(BASE64, 76)
_SHA1, _SHA256, _MD5 = some(HEX, 40), some(HEX, 64), some(HEX, 32)
_UUID = "3f2b8c1e-6d4a-4f0b-9c7d-2a1e5b8f0c3d"

ORDINARY = f"""
ls -la
git status
git log --oneline -5
git show {_SHA1}
git checkout {_SHA1[:7]}
git commit -m "Fix the token counter"
git commit -m 'Add password reset page'
git commit -m "secret santa: pairs are drawn at random"
git rebase -i HEAD~3
git remote add origin git@github.com:owner/repo.git
git clone https://github.com/owner/repo.git
git clone ssh://git@host.example:2222/owner/repo.git
git push -u origin main
git fetch upstream refs/pull/12/head:pr-12
sha256:{_SHA256}
sha1 {_SHA1}
md5sum: {_MD5}
{_UUID}
session {_UUID}
https://example.org/items/{_UUID}
docker pull nginx@sha256:{_SHA256}
docker run -u 1000:1000 -v /a:/b image
docker run --user node:node image
docker run --rm -it -p 8080:80 nginx
docker build --secret id=npmrc,src=.npmrc .
docker login -u bob --password-stdin registry.example
podman run -u root:root x
kubectl create secret generic app-config
kubectl get secret app-config -o yaml
kubectl get secrets --all-namespaces
echo {_B64} | base64 -d
data:image/png;base64,{_B64}
integrity sha512-{some(BASE64, 86)}==
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{some(BASE64, 43)} bob@host
export PATH=/usr/local/bin:$PATH
export PATH="$HOME/bin:$PATH"
PWD=/home/bob/src make
OLDPWD=/tmp
cd "$OLDPWD"
echo $PWD
pwd
export GITHUB_TOKEN=$(gh auth token)
export DB_PASSWORD=$DB_PASSWORD
export DB_PASSWORD="${{DB_PASSWORD}}"
DB_PASSWORD=${{DB_PASSWORD:?not set}} ./run.sh
PASSWORD= ./run.sh
PASSWORD="" ./run.sh
PASSWORD=*** ./run.sh
password=********
API_KEY=<your key>
API_KEY=xxxxxxxxxxxxxxxx
TOKEN=%TOKEN%
TOKEN=`cat file`
curl -H "Authorization: Bearer $TOKEN" https://x.example
curl -H "Authorization: Bearer ${{TOKEN}}" https://x.example
curl -H "X-Api-Key: $KEY" https://x.example
curl -u "$USER:$PASS" https://x.example
curl -u bob https://x.example
curl https://$USER:$PASS@x.example
curl http://localhost:8080/a@b
curl https://x.example:443/path
curl -H 'Accept: application/json' https://x.example
curl -H 'Content-Type: text/plain; charset=utf-8' -d @file https://x.example
curl -sSL https://x.example/install.sh | sh
--token-limit 5
--max-tokens 4096
run --token-limit 5 --key-size 2048
ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519
ssh -i ~/.ssh/id_rsa bob@host
openssl genrsa -out key.pem 2048
openssl req -new -key server.key -out server.csr
grep -rn "password" src/
grep -rn 'api_key' .
rg "SECRET_KEY" --type py
grep -- "-----BEGIN RSA PRIVATE KEY-----" -r .
sed -i 's/token/key/' file.txt
find . -name '*.key'
cat ~/.ssh/known_hosts
less /etc/passwd
sudo -u bob ls
date -u
date -u +%Y-%m-%dT%H:%M:%SZ
sort -u names.txt
python -u main.py
npm install --save-dev keypress
npm run test:tokens
npm_config_cache=/tmp/npm npm ci
npm_package_version
pip install tokenizers==0.19.1
pip install "passlib[bcrypt]"
pip install python-jose keyring
cargo add secrecy
go get github.com/golang-jwt/jwt/v5
pytest tests/test_tokens.py::test_next_token -q
pytest -k "token and not key"
make test-secrets
src/auth/password_reset.py
/home/bob/project/secrets/README.md
/etc/ssl/private/server.key
config/credentials.yml.enc
./scripts/rotate-keys.sh
C:\\Users\\bob\\token.txt
tests/fixtures/keys/public.pem
docs/api-key-rotation.md
def token(self) -> str:
password: str
password: Optional[str] = None
password: string;
token: string
api_key: str | None = None
secret = get_secret()
password = getpass.getpass()
token = tokenizer.next_token()
token = self.token
key = cache.key(name)
password = os.environ["PASSWORD"]
const token = await getToken();
const password = req.body.password
let apiKey = process.env.API_KEY
self.api_key = api_key
if token == expected:
for key, value in items:
lambda key: key.name
sorted(rows, key=len)
sorted(names, key=str.lower)
d["key"] = value
{{"key": "value"}}
{{"name": "token", "count": 3}}
{{"max_tokens": 1024, "temperature": 0}}
{{"input_tokens": 120, "output_tokens": 33}}
{{"keys": ["a", "b"]}}
{{"type": "string", "format": "password"}}
{{"required": ["password"]}}
primary_key=id
PRIMARY_KEY=id
SORT_KEY=name
CACHE_KEY=v1-linux-x64-{_SHA256[:12]}
partition_key = created_at
public_key = AAAAB3NzaC1yc2E
next_page_token=abc123def456
page_token: abc123def456
continuation_token=9f8e7d6c5b4a
MAX_TOKENS=4096
TOKEN_LIMIT=100
TOKENIZERS_PARALLELISM=false
SECRET_NAME=app-config
SECRET_PATH=/run/secrets/app
PASSWORD_FILE=/run/secrets/db
POSTGRES_PASSWORD_FILE=/run/secrets/db
SSH_KEY_PATH=~/.ssh/id_rsa
TOKEN_URL=https://auth.example/token
KEY_SIZE=2048
API_KEY_HEADER=X-Api-Key
PRIVATE_KEY=/etc/ssl/server.key
LICENSE=MIT
KEYBOARD=us
MONKEY=banana
the password is required
Password: required
enter your password:
the token expired
use a bearer token
bearer authentication is used
basic understanding of types
Basic authentication with a password
Authorization: none
the key, and the lock
key: value
see the secret garden
tokens: 12
a compass: north
bypass: true
passed: 12, failed: 0
sk-learn is scikit-learn
sk-estimator-with-a-long-name
ghp_short
AKIA
AKIAshort
xoxb-your-token-here
eyJ is how JSON begins in base64
hf_hub_download(repo_id="a/b")
SG.UI.Window
v1.0-rc1
pat.format("x")
com.example.Main.Application.start
org.springframework.boot.autoconfigure.SpringBootApplication
Microsoft.Extensions.DependencyInjection.Abstractions
10.0.0.1:5432
12:34:56
2026-01-01T00:00:00Z
user:group
a:b:c
mailto:bob@example.org
bob@example.org
npm:react@18
https://example.org/a:b@c
http://[::1]:8080/
file:///home/bob/x
jdbc:postgresql://db:5432/app
s3://bucket/key
arn:aws:iam::123456789012:role/app
projects/p/locations/l/keyRings/r/cryptoKeys/k
mysql -u root app
mysql -p app
redis-cli -h x ping
terraform plan -var-file=prod.tfvars
aws s3 ls s3://bucket
aws configure list
gh auth login
gh secret set NAME
vault kv get secret/app
op read op://vault/item/password
pass show email
git log --format='%H %an <%ae>' --author=bob
echo "token: $(date)" > out
SELECT key, value FROM kv WHERE key='abc'
UPDATE users SET password = ? WHERE id = 1
INSERT INTO tokens (token) VALUES (?)
ALTER TABLE a ADD PRIMARY KEY (id)
jq '.token' a.json
jq -r '.data.password' a.json
kubectl get secret x -o jsonpath='{{.data.password}}'
cat .env | grep PASSWORD
python -c "import secrets; print(secrets.token_hex(16))"
openssl rand -hex 32
export API_KEY=$(cat key.txt) && make
if [ -z "$TOKEN" ]; then exit 1; fi
echo "PASSWORD=$PASSWORD" >> .env
aws ssm get-parameter --name /app/password --with-decryption
gcloud auth print-access-token
gh api -H "Accept: x" /repos
az keyvault secret show --name db --vault-name kv
ansible-playbook site.yml --vault-password-file ~/.vault
ssh -o PasswordAuthentication=no host
git config user.email a@b.c
git config --global credential.helper store
docker run -e TOKEN -e PASSWORD img
docker compose run -e "TOKEN=${{TOKEN}}" app
rsync -avz a/ bob@host:/b/
scp -P 22 a bob@host:/tmp
vim src/token.ts
cp key.pem /etc/ssl/
const [token, setToken] = useState("")
type Props = {{ token: string; password?: string }}
interface A {{ apiKey: string }}
token: ${{{{ secrets.GITHUB_TOKEN }}}}
password: ${{{{ secrets.PW }}}}
GITHUB_TOKEN: ${{{{ secrets.GITHUB_TOKEN }}}}
uses: actions/cache@v4 with key: ${{{{ runner.os }}}}-node
key: linux-node-18-abc
password_hash = bcrypt(password)
passwords.txt
"password": {{"type": "string"}}
"token": null, "secret": false
secretKeyRef: {{name: a, key: b}}
secretName: app-tls
imagePullSecrets: [{{name: regcred}}]
the api key: see docs
my secret: chocolate
api_key=os.getenv("OPENAI_API_KEY")
client = OpenAI(api_key=api_key)
client = Anthropic(api_key=settings.anthropic_api_key)
headers={{"Authorization": f"Bearer {{token}}"}}
headers: {{ Authorization: `Bearer ${{token}}` }}
Authorization: Bearer <token>
Authorization: Bearer YOUR_TOKEN
"Authorization": "Bearer " + token
curl -u user: https://x
curl --user "${{U}}:${{P}}" x
tar -xzf a.tgz -C /tmp
mysql -u root -p
mysql --password
psql "postgresql://localhost/db"
psql "postgresql://bob@localhost/db"
echo "a -> b: c"
grep -E "(token|key)=" file
sed 's/password=.*/password=/' x
test_token_key = 1
KEY=value ./run
KEY=ctrl+c
--key name --sort key
sort --key 2 file
sort -k 2 --key=3
etcdctl get --prefix key
redis-cli get key:1
--api-key-file x
--public-key abcdefgh12345
npm config set //r/:_authToken=${{NPM_TOKEN}}
{some(LOWER, 40)}
""".strip().splitlines()  # noqa: S608  nobody asks a database
